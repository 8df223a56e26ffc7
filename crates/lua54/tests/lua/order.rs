//! Nothing depends on the run or the target: hashes, and so the order of `pairs`, sorting, and random
//! numbers.

use lua54::mlua::Lua;
use wasm_bindgen_test::wasm_bindgen_test;

use crate::golden::check_golden;

#[wasm_bindgen_test(unsupported = test)]
fn the_same_order_and_chance_in_every_state_and_on_every_target() {
    let once = || -> String { Lua::new().load(include_str!("../golden/order.lua")).eval().unwrap() };
    let first = once();
    assert_eq!(once(), first);
    check_golden!("order.txt", &first);
}
