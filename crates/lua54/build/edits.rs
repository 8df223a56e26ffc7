//! The changes of Lua's sources, each with its reason.

/// One change of a source text. The build fails when `find` is not there exactly once.
pub struct Edit {
    pub file: &'static str,
    pub find: &'static str,
    pub replace: &'static str,
}

/// Valkey runs Lua 5.1, where every number is a double. The edits of lobject.c give 5.4 the same outside;
/// what they leave to 5.4's integers is what its library functions make.
pub const EDITS: &[Edit] = &[
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
    // Two values are ordered by a metamethod only if it is the same for both.
    Edit {
        file: "ltm.c",
        find: "int luaT_callorderTM (lua_State *L, const TValue *p1, const TValue *p2,
                      TMS event) {
  if (callbinTM(L, p1, p2, L->top.p, event))  /* try original event */
",
        replace: "static int callsameTM (lua_State *L, const TValue *p1, const TValue *p2,
                       TMS event) {
  return ttype(p1) == ttype(p2) &&
         luaV_rawequalobj(luaT_gettmbyobj(L, p1, event),
                          luaT_gettmbyobj(L, p2, event)) &&
         callbinTM(L, p1, p2, L->top.p, event);
}


int luaT_callorderTM (lua_State *L, const TValue *p1, const TValue *p2,
                      TMS event) {
  if (callsameTM(L, p1, p2, event))
",
    },
    Edit {
        file: "ltm.c",
        find: "      if (callbinTM(L, p2, p1, L->top.p, TM_LT)) {",
        replace: "      if (callsameTM(L, p2, p1, TM_LT)) {",
    },
    // Arithmetic reads numbers in strings itself and before it looks for a metamethod, and an error names the operand
    // that reads as no number. 5.4 leaves both to the metatable of strings, which knows no names.
    Edit { file: "lstrlib.c", find: "#if defined(LUA_NOCVTS2N)	/* { */", replace: "#if 1	/* { */" },
    Edit {
        file: "ltm.c",
        find: "                    StkId res, TMS event) {
  if (l_unlikely(!callbinTM(L, p1, p2, res, event))) {",
        replace: "                    StkId res, TMS event) {
  lua_Number x, y;
  if (((TM_ADD <= event && event <= TM_DIV) || event == TM_UNM) &&
      tonumber(p1, &x) && tonumber(p2, &y)) {
    TValue a, b;
    setfltvalue(&a, x);
    setfltvalue(&b, y);
    luaO_rawarith(L, cast_int(event) - cast_int(TM_ADD) + LUA_OPADD, &a, &b,
                  s2v(res));
    return;
  }
  if (l_unlikely(!callbinTM(L, p1, p2, res, event))) {",
    },
    Edit {
        file: "ldebug.c",
        find: "  if (!ttisnumber(p1))  /* first operand is wrong? */
",
        replace: "  lua_Number n;
  if (!tonumber(p1, &n))  /* first operand is wrong? */
",
    },
    // Both parts have the sign of the number, also where they are 0.
    Edit {
        file: "lmathlib.c",
        find: "    pushnumint(L, ip);
    /* fractional part (test needed for inf/-inf) */
    lua_pushnumber(L, (n == ip) ? l_mathop(0.0) : (n - ip));",
        replace: "    lua_pushnumber(L, ip);
    lua_pushnumber(L, (n == ip) ? __builtin_copysign(0.0, n) : (n - ip));",
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
pub const COUNTED: &[Edit] = &[
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
pub const TRIMS: &[Edit] = &[
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
