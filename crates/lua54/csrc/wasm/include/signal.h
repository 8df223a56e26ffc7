#pragma once
typedef int sig_atomic_t;
