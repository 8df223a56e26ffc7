/* Empty: the one thing Lua asks a locale, the decimal point, is a constant in deterministic.h. */
#pragma once
