/* Empty: there is no clock. deterministic.h and the edits in build/source.rs remove Lua's uses of one. */
#pragma once
