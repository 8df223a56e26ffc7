//! As much of HTML as the pages of this repository need: no element is nested in one of its own kind.

/// An element of a page's source.
#[derive(Clone, Copy, Debug)]
pub struct Element<'h> {
    /// `<tag … >`
    pub opening: &'h str,
    pub inner: &'h str,
}

impl<'h> Element<'h> {
    pub fn attribute(&self, name: &str) -> Option<&'h str> {
        let (_, rest) = self.opening.split_once(&format!(" {name}=\""))?;
        rest.split('"').next()
    }
}

/// Every element of that tag, in order.
pub fn elements<'h>(html: &'h str, tag: &str) -> Vec<Element<'h>> {
    let mut found = Vec::new();
    let mut rest = html;
    while let Some((_, tail)) = rest.split_once(&format!("<{tag}")) {
        rest = tail;
        // Not `<pre` of `<prefix`, nor a `>` that ends another tag.
        if !tail.starts_with([' ', '>', '\n']) {
            continue;
        }
        let Some((opening, tail)) =
            tail.split_once('>').map(|(opening, after)| (&tail[..=opening.len()], after))
        else {
            continue;
        };
        let Some((inner, after)) = tail.split_once(&format!("</{tag}>")) else { continue };
        rest = after;
        found.push(Element { opening, inner });
    }
    found
}

/// What stands inside the first element whose opening tag holds `mark`.
pub fn inner<'h>(html: &'h str, mark: &str) -> Option<&'h str> {
    let (_, rest) = html.split_once(mark)?;
    rest.split_once('>')?.1.split_once("</").map(|(inner, _)| inner)
}

/// The text in one line.
pub fn text(html: &str) -> String {
    plain(html).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text as it stands in a `pre`, line by line.
pub fn lines(html: &str) -> Vec<String> {
    plain(html).lines().map(str::to_owned).collect()
}

fn plain(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some((before, tail)) = rest.split_once('<') {
        text.push_str(before);
        rest = tail.split_once('>').map_or("", |(_, tail)| tail);
    }
    text.push_str(rest);
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::{elements, inner, lines, text};

    #[test]
    fn reads_what_the_pages_are_made_of() {
        let html = "<ul><li class=\"a\">one <code>&lt;b&gt;</code>\n  two</li><li>3</li></ul><link x=\"y\"><p id=\"n\">7 of 9</p>";
        let items = elements(html, "li");
        assert_eq!(items.iter().map(|item| text(item.inner)).collect::<Vec<_>>(), ["one <b> two", "3"]);
        assert_eq!((items[0].attribute("class"), items[1].attribute("class")), (Some("a"), None));
        assert_eq!(items[0].opening, " class=\"a\">");
        assert_eq!(inner(html, "id=\"n\""), Some("7 of 9"));
        assert_eq!(lines("<i>-- a</i>\n  b &amp; c"), ["-- a", "  b & c"]);
    }
}
