#pragma once
#define HUGE_VAL (__builtin_huge_val())
double floor(double), ceil(double), fabs(double), sqrt(double), fmod(double, double);
double pow(double, double), exp(double), log(double), log2(double), log10(double);
double sin(double), cos(double), tan(double), asin(double), acos(double), atan2(double, double);
double sinh(double), cosh(double), tanh(double);
double frexp(double, int *), ldexp(double, int);
