//! A script with what a run of it did: lines that ran are lit, the one that answered is marked, each `redis.call`
//! stands with its reply below its line.

use super::escape;
use crate::session::listing::{Answered, Line, Listing, Mark};

pub fn name(listing: &Listing) -> String {
    format!("The script <code>{}.lua</code>", escape(&listing.name))
}

/// What the fold says that holds the header.
pub fn contract(listing: &Listing) -> String {
    format!("contract, {} lines", listing.header.len())
}

/// The contract at the top of the file, which the page folds away.
pub fn header(listing: &Listing) -> String {
    listing.header.iter().map(line).collect()
}

pub fn body(listing: &Listing) -> String {
    listing.body.iter().map(line).collect()
}

fn line(line: &Line) -> String {
    // Colour says it to the eye only.
    let (class, mark) = match line.mark {
        Mark::Idle => ("", ""),
        Mark::Ran => (" ran", r#"<span class="sr"> (ran)</span>"#),
        Mark::Decided => (" ran decided", r#"<span class="tag">answers</span>"#),
    };
    let calls: String = line.calls.iter().map(call).collect();
    format!(
        r#"<li part="line" class="line{class}" value="{}"><code>{}</code>{mark}{calls}</li>"#,
        line.number,
        coloured(&line.text)
    )
}

/// Comments step back; nothing else needs colour.
fn coloured(text: &str) -> String {
    let trimmed = text.trim_start();
    if trimmed.starts_with("--") { format!("<i>{}</i>", escape(text)) } else { escape(text) }
}

fn call(call: &Answered) -> String {
    format!(
        r#"<span part="call" class="call{}"><code>{}</code> <span class="reply"><span class="arrow" aria-hidden="true">→ </span><code>{}</code></span></span>"#,
        if call.wrote { " wrote" } else { "" },
        escape(&call.command),
        escape(&call.reply)
    )
}
