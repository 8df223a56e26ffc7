//! Where the C sources are, which of them are compiled, and what is changed in them.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Library files that stay out, because no script of the engine may reach what is in them. `csrc/absent.c`
/// stands in for the functions that mlua refers to. What they would need of a C library is then not needed
/// either.
const LEFT_OUT: &[&str] = &["liolib.c", "loslib.c", "loadlib.c", "lutf8lib.c", "ldblib.c"];

/// One change of a source text. The build fails when `find` is not there exactly once.
struct Edit {
    file: &'static str,
    find: &'static str,
    replace: &'static str,
}

/// Valkey runs Lua 5.1, where every number is a double. The edits of lobject.c give 5.4 the same outside;
/// what they leave to 5.4's integers is what its library functions make, such as `#t`.
const EDITS: &[Edit] = &[
    // A text becomes a number as strtod reads it, never an integer. So arithmetic overflows into `inf` and
    // not around, `-0` keeps its sign and `0xffffffffffffffff` is not -1.
    Edit {
        file: "lobject.c",
        find: "  if ((e = l_str2int(s, &i)) != NULL) {  /* try as an integer */
    setivalue(o, i);
  }
  else if ((e = l_str2d(s, &n)) != NULL) {",
        replace: "  (void)i; (void)l_str2int;
  if ((e = l_str2d(s, &n)) != NULL) {",
    },
    // 5.4 refuses what 5.1 takes: `inf`, which is how Valkey writes an infinite score.
    Edit {
        file: "lobject.c",
        find: "  if (mode == 'n')  /* reject 'inf' and 'nan' */
    return NULL;
",
        replace: "",
    },
    // An integer prints as the double it stands for, and a double without `.0`.
    Edit {
        file: "lobject.c",
        find: "    len = lua_integer2str(buff, MAXNUMBER2STR, ivalue(obj));
  else {
    len = lua_number2str(buff, MAXNUMBER2STR, fltvalue(obj));
    if (buff[strspn(buff, \"-0123456789\")] == '\\0') {  /* looks like an int? */
      buff[len++] = lua_getlocaledecpoint();
      buff[len++] = '0';  /* adds '.0' to result */
    }
  }
",
        replace: "    len = lua_number2str(buff, MAXNUMBER2STR, cast_num(ivalue(obj)));
  else
    len = lua_number2str(buff, MAXNUMBER2STR, fltvalue(obj));
",
    },
    // A length is a double too, so that products of lengths overflow into `inf`; and of a table it is that of the
    // table, whatever `__len` says.
    Edit {
        file: "lvm.c",
        find: "      tm = fasttm(L, h->metatable, TM_LEN);
      if (tm) break;  /* metamethod? break switch to call it */
      setivalue(s2v(ra), luaH_getn(h));  /* else primitive len */
",
        replace: "      setfltvalue(s2v(ra), cast_num(luaH_getn(h)));
",
    },
    Edit {
        file: "lvm.c",
        find: "setivalue(s2v(ra), tsvalue(rb)->shrlen)",
        replace: "setfltvalue(s2v(ra), cast_num(tsvalue(rb)->shrlen))",
    },
    Edit {
        file: "lvm.c",
        find: "setivalue(s2v(ra), tsvalue(rb)->u.lnglen)",
        replace: "setfltvalue(s2v(ra), cast_num(tsvalue(rb)->u.lnglen))",
    },
    // A string that is used as a number ends at a zero byte.
    Edit {
        file: "lvm.c",
        find: "return (luaO_str2num(getstr(st), result) == tsslen(st) + 1);",
        replace: "return luaO_str2num(getstr(st), result) != 0;",
    },
    Edit {
        file: "lstrlib.c",
        find: "lua_stringtonumber(L, s) == len + 1);",
        replace: "lua_stringtonumber(L, s) != 0);",
    },
    // Tables are compared by `__eq` only when both have the same one.
    Edit {
        file: "lvm.c",
        find: "      if (hvalue(t1) == hvalue(t2)) return 1;
      else if (L == NULL) return 0;
      tm = fasttm(L, hvalue(t1)->metatable, TM_EQ);
      if (tm == NULL)
        tm = fasttm(L, hvalue(t2)->metatable, TM_EQ);
",
        replace: "      const TValue *tm2;
      if (hvalue(t1) == hvalue(t2)) return 1;
      else if (L == NULL) return 0;
      tm = fasttm(L, hvalue(t1)->metatable, TM_EQ);
      tm2 = fasttm(L, hvalue(t2)->metatable, TM_EQ);
      if (tm == NULL || tm2 == NULL || !luaV_rawequalobj(tm, tm2)) return 0;
",
    },
    // A loop begins one step before its first number and adds the step, which rounds; a step of 0 is none that ends.
    Edit {
        file: "lvm.c",
        find: "      luaG_forerror(L, pinit, \"initial value\");
    if (step == 0)
      luaG_runerror(L, \"'for' step is zero\");
",
        replace: "      luaG_forerror(L, pinit, \"initial value\");
    init = luai_numsub(L, init, step);
    init = luai_numadd(L, init, step);
",
    },
    // A message handler can be interrupted too. Lua runs it before it leaves a hook that threw, with hooks
    // still off: in `xpcall(loop, loop)` the limit on steps would end the first loop and never the
    // second.
    Edit {
        file: "ldebug.c",
        find: "    luaD_callnoyield(L, L->top.p - 2, 1);  /* call it */",
        replace: "    L->allowhook = 1;
    luaD_callnoyield(L, L->top.p - 2, 1);  /* call it */",
    },
    // A count hook counts the turns of loops and the calls of Lua functions, not each instruction: to count those, Lua
    // leaves its fast path at every one. What neither loops nor calls ends by itself.
    Edit {
        file: "lvm.c",
        find: "#define dojump(ci,i,e)	{ pc += GETARG_sJ(i) + e; updatetrap(ci); }",
        replace: "LUAI_FUNC void luaG_tick (lua_State *L);

#define isticktime()  \
	l_unlikely((L->hookcount = cast_int(cast_uint(L->hookcount) - 1u)) == 0)

#define tick(ci)  \
	{ if (isticktime()) { savestate(L, ci); luaG_tick(L); updatebase(ci); } \
	  updatetrap(ci); }

#define dojump(ci,i,e)	{ tick(ci); pc += GETARG_sJ(i) + e; }",
    },
    Edit {
        file: "lvm.c",
        find: " startfunc:
  trap = L->hookmask;",
        replace: " startfunc:
  if (isticktime()) luaG_tick(L);
  trap = L->hookmask;",
    },
    Edit {
        file: "lvm.c",
        find: "        updatetrap(ci);  /* allows a signal to break the loop */",
        replace: "        tick(ci);",
    },
    Edit {
        file: "lvm.c",
        find: "/* save control variable */
          pc -= GETARG_Bx(i);  /* jump back */",
        replace: "/* save control variable */
          pc -= GETARG_Bx(i);  /* jump back */
          tick(ci);",
    },
    Edit {
        file: "ldebug.c",
        find: "  L->hookmask = cast_byte(mask);
  if (mask)
    settraps(L->ci);  /* to trace inside 'luaV_execute' */
}
",
        replace: "  L->hookmask = cast_byte(mask & ~LUA_MASKCOUNT);
  if (L->hookmask)
    settraps(L->ci);  /* to trace inside 'luaV_execute' */
}


LUAI_FUNC void luaG_tick (lua_State *L) {
  CallInfo *ci = L->ci;
  int start = (ci->u.l.savedpc == ci_func(ci)->p->code);
  resethookcount(L);
  ci->u.l.savedpc += start;  /* hooks assume 'pc' is already incremented */
  luaD_hook(L, LUA_HOOKCOUNT, -1, 0, 0);
  ci->u.l.savedpc -= start;
}
",
    },
    // Only userdata have finalizers, as in 5.1. A script's own would run with hooks off, and whenever memory
    // says so.
    Edit {
        file: "lapi.c",
        find: "      hvalue(obj)->metatable = mt;
      if (mt) {
        luaC_objbarrier(L, gcvalue(obj), mt);
        luaC_checkfinalizer(L, gcvalue(obj), mt);
",
        replace: "      hvalue(obj)->metatable = mt;
      if (mt) {
        luaC_objbarrier(L, gcvalue(obj), mt);
",
    },
    // math.random starts from a constant. The engine takes no entropy, and wasm has no clock to offer.
    Edit { file: "lmathlib.c", find: "(lua_Unsigned)time(NULL)", replace: "0" },
    Edit { file: "lmathlib.c", find: "(lua_Unsigned)(size_t)L", replace: "0" },
];

/// Where scripts come from anybody, each step of a pattern counts as one of the script's: a search that goes back and forth
/// for hours then ends as any other endless loop does.
const COUNTED: &[Edit] = &[
    Edit {
        file: "lstrlib.c",
        find: "#include \"lualib.h\"
",
        replace: "#include \"lualib.h\"
#include \"ldebug.h\"
#include \"ldo.h\"
#include \"lstate.h\"

static void count_steps (lua_State *L, size_t steps) {
  if (L->hook == NULL || L->basehookcount <= 0 || !L->allowhook) return;
  while (L->hookcount <= 0 || steps >= (size_t)L->hookcount) {
    if (L->hookcount > 0) steps -= (size_t)L->hookcount;
    resethookcount(L);
    luaD_hook(L, LUA_HOOKCOUNT, -1, 0, 0);
  }
  L->hookcount -= (int)steps;
}
",
    },
    Edit {
        file: "lstrlib.c",
        find: "  init: /* using goto to optimize tail recursion */
",
        replace: "  init: /* using goto to optimize tail recursion */
  count_steps(ms->L, 1);
",
    },
    // A class is read byte by byte.
    Edit {
        file: "lstrlib.c",
        find: "        const char *ep = classend(ms, p);  /* points to optional suffix */
",
        replace: "        const char *ep = classend(ms, p);  /* points to optional suffix */
        count_steps(ms->L, (size_t)(ep - p));
",
    },
    Edit {
        file: "lstrlib.c",
        find: "  while (singlematch(ms, s + i, p, ep))
    i++;
",
        replace: "  while (singlematch(ms, s + i, p, ep)) {
    count_steps(ms->L, (size_t)(ep - p));
    i++;
  }
",
    },
    Edit {
        file: "lstrlib.c",
        find: "    const char *res = match(ms, s, ep+1);
    if (res != NULL)
      return res;
",
        replace: "    const char *res = match(ms, s, ep+1);
    count_steps(ms->L, (size_t)(ep - p));
    if (res != NULL)
      return res;
",
    },
    Edit {
        file: "lstrlib.c",
        find: "    while (++s < ms->src_end) {
",
        replace: "    while (++s < ms->src_end) {
      count_steps(ms->L, 1);
",
    },
    Edit {
        file: "lstrlib.c",
        find: "static const char *lmemfind (const char *s1, size_t l1,
",
        replace: "static const char *lmemfind (lua_State *L, const char *s1, size_t l1,
",
    },
    Edit {
        file: "lstrlib.c",
        find: "      else {  /* correct 'l1' and 's1' to try again */
",
        replace: "      else {  /* correct 'l1' and 's1' to try again */
        count_steps(L, 1 + l2 / 16);
",
    },
    Edit {
        file: "lstrlib.c",
        find: "lmemfind(s + init, ls - init, p, lp)",
        replace: "lmemfind(L, s + init, ls - init, p, lp)",
    },
];

/// Further changes where nobody uses mlua: what is then unreachable.
const TRIMS: &[Edit] = &[
    // The engine loads text only.
    Edit {
        file: "ldo.c",
        find: "    checkmode(L, p->mode, \"binary\");
    cl = luaU_undump(L, p->z, p->name);
",
        replace: "    checkmode(L, \"t\", \"binary\");
    cl = NULL;
",
    },
    // The collector stays incremental.
    Edit { file: "lgc.c", find: "  if (newmode != g->gckind) {", replace: "  (void)g; if (0) {" },
    Edit {
        file: "lgc.c",
        find: "#include \"lgc.h\"
",
        replace: "#include \"lgc.h\"
#undef isdecGCmodegen
#define isdecGCmodegen(g) 0
",
    },
    Edit {
        file: "lgc.c",
        find: "  if (g->gckind == KGC_INC)
    fullinc",
        replace: "  if (1)
    fullinc",
    },
];

/// A file, its list of functions, the names of those that stay.
type List = (&'static str, &'static str, &'static [&'static str]);

/// What stays of the libraries where nobody uses mlua. The other functions are replaced by the engine, or no script of it
/// may reach them.
const KEPT: &[List] = &[
    ("lbaselib.c", "base_funcs", &["rawequal", "type"]),
    ("lcorolib.c", "co_funcs", &["create", "resume", "status", "wrap", "yield"]),
    (
        "lmathlib.c",
        "mathlib",
        &["abs", "acos", "asin", "atan", "cos", "exp", "log", "modf", "rad", "sin", "sqrt", "tan"],
    ),
    ("lmathlib.c", "randfuncs", &[]),
    (
        "lstrlib.c",
        "strlib",
        &[
            "byte", "char", "dump", "find", "format", "gsub", "len", "lower", "match", "rep", "reverse",
            "sub", "upper",
        ],
    ),
    ("ltablib.c", "tab_funcs", &["concat"]),
];

/// What stays without the feature `libraries`; libraries not named here are not opened.
const LEAST: &[List] =
    &[("lbaselib.c", "base_funcs", &["rawequal", "type"]), ("lstrlib.c", "strlib", &["find"])];

/// How much of Lua is compiled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    Whole,
    /// What the engine takes.
    Libraries,
    /// What the scripts of the pages take.
    Least,
}

/// The folder of Lua 5.4 inside the `lua-src` crate. That crate tells nobody where it is, so cargo is asked.
pub fn locate() -> Result<PathBuf, String> {
    println!("cargo::rerun-if-env-changed=LUA54_SRC");
    if let Some(dir) = env::var_os("LUA54_SRC") {
        return Ok(dir.into());
    }
    // Offline at first: this also has to work where only the tools' own downloads were allowed. Without the
    // flag cargo may fetch what the workspace's other members need and this build did not.
    let metadata = cargo_metadata(&["--offline"]).or_else(|_| cargo_metadata(&[]))?;
    let manifest = metadata["packages"]
        .as_array()
        .and_then(|all| all.iter().find(|package| package["name"] == "lua-src"))
        .and_then(|package| package["manifest_path"].as_str())
        .ok_or("`cargo metadata` knows no package lua-src; LUA54_SRC can name the folder of Lua's C files")?;
    let root = Path::new(manifest).parent().unwrap_or(Path::new(""));
    sorted_files(root)?
        .into_iter()
        .rfind(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("lua-5.4.")))
        .ok_or_else(|| format!("no folder lua-5.4.* in {}", root.display()))
}

/// The C files to compile, in a fixed order: those with an edit as changed copies in `out`, the rest in
/// place.
pub fn edited(lua: &Path, out: &Path, extent: Extent) -> Result<Vec<PathBuf>, String> {
    let (trims, counted, kept) = match extent {
        Extent::Whole => (&[][..], COUNTED, &[][..]),
        Extent::Libraries => (TRIMS, COUNTED, KEPT),
        Extent::Least => (TRIMS, &[][..], LEAST),
    };
    let mut units = Vec::new();
    let (mut edits_made, mut lists_cut) = (0, 0);
    for path in sorted_files(lua)? {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if !name.ends_with(".c") || LEFT_OUT.contains(&name) {
            continue;
        }
        let edits: Vec<_> =
            EDITS.iter().chain(trims).chain(counted).filter(|edit| edit.file == name).collect();
        let lists: Vec<_> = kept.iter().filter(|(file, ..)| *file == name).collect();
        if edits.is_empty() && lists.is_empty() {
            units.push(path);
            continue;
        }
        let mut text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        for edit in edits {
            text = apply(edit, &text)?;
            edits_made += 1;
        }
        for (file, list, names) in lists {
            text = keep(file, list, names, &text)?;
            lists_cut += 1;
        }
        let copy = out.join(name);
        fs::write(&copy, text).map_err(|e| format!("{}: {e}", copy.display()))?;
        units.push(copy);
    }
    if edits_made == EDITS.len() + trims.len() + counted.len() && lists_cut == kept.len() {
        Ok(units)
    } else {
        Err(format!("{} lacks a file that is to be edited", lua.display()))
    }
}

/// `text` with only the functions `names` in its list of functions `list`.
fn keep(file: &str, list: &str, names: &[&str], text: &str) -> Result<String, String> {
    let changed = || format!("{file} of lua-src has no list {list} with {names:?}: compare it with KEPT");
    let start = format!("static const luaL_Reg {list}[] = {{\n");
    let (before, rest) = text.split_once(&start).ok_or_else(changed)?;
    let (entries, after) = rest.split_once("};").ok_or_else(changed)?;
    let mut out = format!("{before}{start}");
    let mut found = 0;
    for line in entries.lines() {
        let name = line.trim_start().strip_prefix("{\"").and_then(|line| line.split('"').next());
        if name.is_some_and(|name| !names.contains(&name)) {
            continue;
        }
        found += usize::from(name.is_some());
        out.extend([line, "\n"]);
    }
    if found == names.len() { Ok(out + "};" + after) } else { Err(changed()) }
}

fn apply(edit: &Edit, text: &str) -> Result<String, String> {
    let found = text.matches(edit.find).count();
    if found == 1 {
        return Ok(text.replacen(edit.find, edit.replace, 1));
    }
    Err(format!(
        "{} of lua-src is not as expected: the text to edit is in it {found} times, not once. Has lua-src changed? Compare \
         its Lua 5.4 with EDITS in crates/lua54/build/source.rs, at {:?}",
        edit.file, edit.find
    ))
}

fn cargo_metadata(more: &[&str]) -> Result<serde_json::Value, String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    // Only the host's packages, of which lua-src is one as a build dependency: cargo then needs no others on
    // disk.
    let host = env::var("HOST").map_err(|e| format!("HOST: {e}"))?;
    let output = Command::new(cargo)
        .args(["metadata", "--format-version=1", "--filter-platform", &host])
        .args(more)
        .current_dir(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| ".".into()))
        .output()
        .map_err(|e| format!("cannot run cargo metadata: {e}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)));
    }
    serde_json::from_slice(&output.stdout).map_err(|e| format!("cargo metadata: {e}"))
}

fn sorted_files(dir: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    Ok(paths)
}
