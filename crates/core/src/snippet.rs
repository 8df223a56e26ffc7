//! A command as a reader would type it: for valkey-cli in a shell, and as a line of Elixir, Go, Python, Node and Rust.
//!
//! All of them are made from one argv, so that what is copied is what the page ran.

/// Where a snippet runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// valkey-cli in a POSIX shell.
    Shell,
    /// Redix.
    Elixir,
    /// go-redis: `rdb` and `ctx` are there.
    Go,
    /// valkey-py.
    Python,
    /// iovalkey.
    Node,
    /// The redis crate: `connection` is there.
    Rust,
}

impl Language {
    pub const ALL: [Language; 6] =
        [Language::Shell, Language::Elixir, Language::Go, Language::Python, Language::Node, Language::Rust];

    pub fn name(self) -> &'static str {
        match self {
            Language::Shell => "valkey-cli",
            Language::Elixir => "Elixir",
            Language::Go => "Go",
            Language::Python => "Python",
            Language::Node => "Node",
            Language::Rust => "Rust",
        }
    }
}

/// The line that sends `argv`. Bytes that are not UTF-8 are replaced: the pages send text.
pub fn snippet(language: Language, argv: &[Vec<u8>]) -> String {
    let words: Vec<String> = argv.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    let list =
        |quote: fn(&str) -> String| words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(", ");
    match language {
        Language::Shell => {
            let words: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
            format!("valkey-cli {}", words.join(" "))
        }
        Language::Elixir => format!("Redix.command(conn, [{}])", list(elixir_string)),
        Language::Go => format!("rdb.Do(ctx, {}).Result()", list(go_string)),
        Language::Python => format!("valkey.Valkey().execute_command({})", list(python_string)),
        Language::Node => format!("await new Valkey().call({})", list(js_string)),
        Language::Rust => {
            let (name, args) =
                words.split_first().map_or(("", &[][..]), |(name, args)| (name.as_str(), args));
            let args: String = args.iter().map(|word| format!(".arg({})", rust_string(word))).collect();
            format!("redis::cmd({}){args}.query::<redis::Value>(&mut connection)?", rust_string(name))
        }
    }
}

/// One word of a POSIX shell.
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| {
        c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | ':' | '=' | '@' | '%' | '+' | ',' | '-')
    };
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn elixir_string(word: &str) -> String {
    let mut literal = String::new();
    for c in quoted(word, |code| format!("\\u{{{code:x}}}")).chars() {
        // `#{` would interpolate.
        if c == '{' && literal.ends_with('#') {
            literal.insert(literal.len() - 1, '\\');
        }
        literal.push(c);
    }
    literal
}

fn go_string(word: &str) -> String {
    quoted(word, |code| format!("\\x{code:02x}"))
}

fn python_string(word: &str) -> String {
    quoted(word, |code| format!("\\x{code:02x}"))
}

fn js_string(word: &str) -> String {
    quoted(word, |code| format!("\\x{code:02x}"))
}

fn rust_string(word: &str) -> String {
    quoted(word, |code| format!("\\x{code:02x}"))
}

/// A double-quoted literal; `control` writes a control character below 0x80.
fn quoted(word: &str, control: fn(u32) -> String) -> String {
    let mut literal = String::from('"');
    for c in word.chars() {
        match c {
            '"' | '\\' => literal.extend(['\\', c]),
            '\n' => literal.push_str("\\n"),
            '\t' => literal.push_str("\\t"),
            '\r' => literal.push_str("\\r"),
            c if c.is_ascii_control() => literal.push_str(&control(c.into())),
            c => literal.push(c),
        }
    }
    literal.push('"');
    literal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_quotes_what_a_reader_typed() {
        let argv = ["SET", "emq:{q}:x", "it's \"50%\" #{1}\\\u{1}\n"].map(|word| word.as_bytes().to_vec());
        let lines: Vec<String> = Language::ALL.iter().map(|language| snippet(*language, &argv)).collect();
        assert_eq!(
            lines.join("\n"),
            concat!(
                "valkey-cli SET 'emq:{q}:x' 'it'\\''s \"50%\" #{1}\\\u{1}\n'\n",
                r##"Redix.command(conn, ["SET", "emq:{q}:x", "it's \"50%\" \#{1}\\\u{1}\n"])"##,
                "\n",
                r##"rdb.Do(ctx, "SET", "emq:{q}:x", "it's \"50%\" #{1}\\\x01\n").Result()"##,
                "\n",
                r##"valkey.Valkey().execute_command("SET", "emq:{q}:x", "it's \"50%\" #{1}\\\x01\n")"##,
                "\n",
                r##"await new Valkey().call("SET", "emq:{q}:x", "it's \"50%\" #{1}\\\x01\n")"##,
                "\n",
                r##"redis::cmd("SET").arg("emq:{q}:x").arg("it's \"50%\" #{1}\\\x01\n").query::<redis::Value>(&mut connection)?"##,
            )
        );
    }
}
