//! The table library of Lua 5.1: positions are cut to integers, access is raw, and the old functions are there.

use std::ffi::c_int;

use lua54::ffi;

use super::sandbox;
use super::vm::{Body, Call, Raise};

pub(super) const FUNCTIONS: &[(&str, Body)] = &[
    ("foreach", foreach),
    ("foreachi", foreachi),
    ("getn", getn),
    ("insert", insert),
    ("maxn", maxn),
    ("remove", remove),
    ("setn", setn),
    ("sort", sort),
];

/// The length of the table at 1.
fn length(call: &Call) -> Result<i64, Raise> {
    call.check_table(1)?;
    Ok(i64::try_from(unsafe { ffi::lua_rawlen(call.lua, 1) }).unwrap_or(i64::MAX))
}

#[expect(clippy::cast_precision_loss, reason = "5.1 has doubles only")]
fn push_integer(call: &Call, n: i64) {
    call.push_number(n as f64);
}

fn get(call: &Call, at: i64) {
    unsafe { ffi::lua_rawgeti(call.lua, 1, at) };
}

fn set(call: &Call, at: i64) {
    unsafe { ffi::lua_rawseti(call.lua, 1, at) };
}

fn getn(call: &Call) -> Result<c_int, Raise> {
    let length = length(call)?;
    push_integer(call, length);
    Ok(1)
}

fn setn(call: &Call) -> Result<c_int, Raise> {
    call.check_table(1)?;
    Err(Raise::text("'setn' is obsolete"))
}

fn maxn(call: &Call) -> Result<c_int, Raise> {
    call.check_table(1)?;
    let mut largest = 0.0_f64;
    call.push_nil();
    unsafe {
        while ffi::lua_next(call.lua, 1) != 0 {
            call.set_top(-2);
            if call.is_number(-1) {
                largest = largest.max(ffi::lua_tonumber(call.lua, -1));
            }
        }
    }
    call.push_number(largest);
    Ok(1)
}

fn insert(call: &Call) -> Result<c_int, Raise> {
    let end = length(call)?.saturating_add(1);
    sandbox::refuse_read_only(call, 1)?;
    match call.top() {
        2 => set(call, end),
        3 => {
            let at = call.check_integer(2)?;
            call.charge(end.saturating_sub(at).max(0).unsigned_abs())?;
            for to in (at.saturating_add(1)..=end.max(at)).rev() {
                get(call, to - 1);
                set(call, to);
            }
            set(call, at);
        }
        _ => return Err(Raise::text("wrong number of arguments to 'insert'")),
    }
    Ok(0)
}

fn remove(call: &Call) -> Result<c_int, Raise> {
    let length = length(call)?;
    let at = call.integer_or(2, length)?;
    if !(1 <= at && at <= length) {
        return Ok(0);
    }
    get(call, at);
    for to in at..length {
        get(call, to + 1);
        set(call, to);
    }
    call.push_nil();
    set(call, length);
    Ok(1)
}

fn check_function(call: &Call, at: c_int) -> Result<(), Raise> {
    if call.kind(at) == ffi::LUA_TFUNCTION { Ok(()) } else { Err(call.type_error(at, "function")) }
}

fn foreachi(call: &Call) -> Result<c_int, Raise> {
    let length = length(call)?;
    check_function(call, 2)?;
    for at in 1..=length {
        call.push(2);
        push_integer(call, at);
        get(call, at);
        unsafe { ffi::lua_call(call.lua, 2, 1) };
        if !call.is_nothing(-1) {
            return Ok(1);
        }
        call.set_top(-2);
    }
    Ok(0)
}

fn foreach(call: &Call) -> Result<c_int, Raise> {
    call.check_table(1)?;
    check_function(call, 2)?;
    sandbox::look_through(call, 1);
    call.push_nil();
    unsafe {
        while ffi::lua_next(call.lua, 1) != 0 {
            call.push(2);
            call.push(-3);
            call.push(-3);
            ffi::lua_call(call.lua, 2, 1);
            if !call.is_nothing(-1) {
                return Ok(1);
            }
            call.set_top(-3);
        }
    }
    Ok(0)
}

/// 5.1's message names the type of what cannot be joined; the joining is Lua's own.
pub(super) fn concat(call: &Call) -> Result<c_int, Raise> {
    let length = length(call)?;
    if !call.is_nothing(2) {
        call.check_string(2)?;
    }
    let first = call.integer_or(3, 1)?;
    let last = call.integer_or(4, length)?;
    sandbox::look_through(call, 1);
    for at in first..=last {
        get(call, at);
        let kind = call.kind(-1);
        let name = call.type_name(-1);
        call.set_top(-2);
        if !matches!(kind, ffi::LUA_TSTRING | ffi::LUA_TNUMBER) {
            let text = format!("invalid value ({name}) at index {at} in table for 'concat'");
            return Err(Raise::text(text));
        }
    }
    call.set_top(2);
    unsafe {
        ffi::lua_pushinteger(call.lua, first);
        ffi::lua_pushinteger(call.lua, last);
    }
    sandbox::call_original(call)
}

fn sort(call: &Call) -> Result<c_int, Raise> {
    let length = length(call)?;
    if !call.is_nothing(2) {
        check_function(call, 2)?;
    }
    call.set_top(2);
    sort_range(call, 1, length)
}

/// 5.1's quicksort, which decides where elements end that are equal to the comparison: the middle of three as pivot,
/// the shorter part by recursion (so the depth is logarithmic), the longer one in the loop.
fn sort_range(call: &Call, mut low: i64, mut high: i64) -> Result<c_int, Raise> {
    call.reserve(8, "sort")?;
    while low < high {
        order_pair(call, low, high)?;
        if high - low == 1 {
            break;
        }
        let middle = i64::midpoint(low, high);
        if !order_pair(call, low, middle)? {
            order_pair(call, middle, high)?;
        }
        if high - low == 2 {
            break;
        }
        let split = partition(call, low, middle, high)?;
        if split - low < high - split {
            sort_range(call, low, split - 1)?;
            low = split + 1;
        } else {
            sort_range(call, split + 1, high)?;
            high = split - 1;
        }
    }
    Ok(0)
}

/// Swaps the elements at `low` and `high` when they are in the wrong order; whether it did.
fn order_pair(call: &Call, low: i64, high: i64) -> Result<bool, Raise> {
    get(call, low);
    get(call, high);
    let wrong = is_less(call, -1, -2)?;
    if wrong {
        set(call, low);
        set(call, high);
    } else {
        call.set_top(-3);
    }
    Ok(wrong)
}

/// The pivot goes to `high - 1`, smaller elements before its place, larger ones behind; its place.
fn partition(call: &Call, low: i64, middle: i64, high: i64) -> Result<i64, Raise> {
    get(call, middle);
    call.push(-1);
    get(call, high - 1);
    set(call, middle);
    set(call, high - 1);
    // The pivot is on top.
    let (mut i, mut j) = (low, high - 1);
    let invalid = || Raise::text("invalid order function for sorting");
    loop {
        i += 1;
        get(call, i);
        while is_less(call, -1, -2)? {
            if i > high {
                return Err(invalid());
            }
            call.set_top(-2);
            i += 1;
            get(call, i);
        }
        j -= 1;
        get(call, j);
        while is_less(call, -3, -1)? {
            if j < low {
                return Err(invalid());
            }
            call.set_top(-2);
            j -= 1;
            get(call, j);
        }
        if j < i {
            call.set_top(-4);
            break;
        }
        set(call, i);
        set(call, j);
    }
    get(call, high - 1);
    get(call, i);
    set(call, high - 1);
    set(call, i);
    Ok(i)
}

/// Whether the element at `a` goes before the one at `b` (both counted from the top).
fn is_less(call: &Call, a: c_int, b: c_int) -> Result<bool, Raise> {
    unsafe {
        if call.kind(2) == ffi::LUA_TNIL {
            return Ok(ffi::lua_compare(call.lua, a, b, ffi::LUA_OPLT) != 0);
        }
        call.push(2);
        call.push(a - 1);
        call.push(b - 2);
        ffi::lua_call(call.lua, 2, 1);
        let less = call.truthy(-1);
        call.set_top(-2);
        Ok(less)
    }
}
