/* The standard libraries that are not compiled in. mlua refers to the functions that open them, so these
   exist and open an empty table: `Lua::new()` works, and a script that asks for `os.time` hears of a nil
   value. */
#include "lua.h"
#include "lualib.h"

#define ABSENT(open) \
  LUAMOD_API int open (lua_State *L) { lua_newtable(L); return 1; }

ABSENT(luaopen_io)
ABSENT(luaopen_os)
ABSENT(luaopen_utf8)
ABSENT(luaopen_debug)

/* mlua disarms `package.searchers` by itself, and insists that there is such a table. */
LUAMOD_API int luaopen_package (lua_State *L) {
  lua_newtable(L);
  lua_newtable(L);
  lua_setfield(L, -2, "searchers");
  return 1;
}
