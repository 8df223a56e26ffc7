//! What a readout shows, in the address of its page: `#fence=token:99`, several joined by `&`, several values by `,`.
//!
//! The key is the element's id, else its kind. Everything but letters, digits and `-_.~` is percent-encoded, so that
//! a link survives a mail and a chat.

/// The values under `key`; `None`: the address says nothing about this element. Never fails: a damaged escape is kept
/// as it stands.
pub fn read(hash: &str, key: &str) -> Option<Vec<(String, String)>> {
    let item = items(hash).find(|(name, _)| decode(name) == key)?.1;
    let value = |pair: &str| {
        let (name, value) = pair.split_once(':').unwrap_or((pair, ""));
        (decode(name), decode(value))
    };
    Some(item.split(',').filter(|pair| !pair.is_empty()).map(value).collect())
}

/// The hash with `values` under `key`. What it says of other elements stays; a plain anchor (`#section`) gives way.
pub fn write(hash: &str, key: &str, values: &[(&str, &str)]) -> String {
    let others = items(hash).filter(|(name, _)| decode(name) != key);
    let mut parts: Vec<String> = others.map(|(name, item)| format!("{name}={item}")).collect();
    let values: Vec<String> =
        values.iter().map(|(name, value)| format!("{}:{}", encode(name), encode(value))).collect();
    parts.push(format!("{}={}", encode(key), values.join(",")));
    format!("#{}", parts.join("&"))
}

fn items(hash: &str) -> impl Iterator<Item = (&str, &str)> {
    hash.strip_prefix('#').unwrap_or(hash).split('&').filter_map(|item| item.split_once('='))
}

fn encode(text: &str) -> String {
    let mut coded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            coded.push(char::from(byte));
        } else {
            coded.push_str(&format!("%{byte:02X}"));
        }
    }
    coded
}

fn decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        let digits = if byte == b'%' { tail.get(..2) } else { None };
        let coded = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let coded = coded.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(coded.unwrap_or(byte));
        rest = if coded.is_some() { tail.get(2..).unwrap_or_default() } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{read, write};

    fn values(pairs: &[(&str, &str)]) -> Option<Vec<(String, String)>> {
        Some(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn a_link_opens_the_readout_that_wrote_it() {
        for token in ["99", "", "x y", "a:b,c&d=e#f%41", "ключ"] {
            let hash = write("", "fence", &[("token", token), ("max", "2")]);
            assert_eq!(read(&hash, "fence"), values(&[("token", token), ("max", "2")]), "{hash}");
        }
        assert_eq!(write("", "fence", &[("token", "99")]), "#fence=token:99");
    }

    #[test]
    fn each_element_keeps_its_own() {
        let hash = write("#fence=token:1&complete=token:2", "fence", &[("token", "99")]);
        assert_eq!(hash, "#complete=token:2&fence=token:99");
        assert_eq!(read(&hash, "complete"), values(&[("token", "2")]));
        assert_eq!(read(&hash, "retry"), None);
        assert_eq!(write("#the-go-side", "retry", &[("token", "1")]), "#retry=token:1");
    }

    #[test]
    fn damage_is_no_error() {
        assert_eq!(read("#fence=token:%4,%zz:%", "fence"), values(&[("token", "%4"), ("%zz", "%")]));
        assert_eq!(read("#fence", "fence"), None);
        assert_eq!(read("", "fence"), None);
        assert_eq!(read("#fence=", "fence"), values(&[]));
    }
}
