use lua54::mlua::Lua;
use wasm_bindgen_test::wasm_bindgen_test;

#[wasm_bindgen_test(unsupported = test)]
fn smoke() {
    let lua = Lua::new();
    assert_eq!(
        lua.load(
            "return (10/2)..' '..math.floor(2^53)..' '..string.format('%d', 3)..select(2,pcall(error,'x'))"
        )
        .eval::<String>()
        .unwrap(),
        "5 9.007199254741e+15 3x"
    );
}
