//! Where the job is: five places, the verbs between them, and the job as a dot that moves. The drawing never changes;
//! `data-at` on what holds it says where the dot is, and the style sheet moves it.

use super::escape;
use crate::session::shown::Shown;

pub const SVG: &str = include_str!("diagram.svg").trim_ascii_end();

/// The attempts counter, and for a screen reader what the drawing says.
pub fn counter(shown: &Shown) -> String {
    let attempts = if shown.attempts.is_empty() { "–" } else { &shown.attempts };
    format!(
        r#"<p part="attempts" aria-hidden="true"><span>attempts</span> <b>{}</b></p><p class="sr">{}</p>"#,
        escape(attempts),
        escape(&words(shown.place, &shown.attempts))
    )
}

fn words(place: &str, attempts: &str) -> String {
    match place {
        "gone" => "The job is gone: no row, in no set.".to_owned(),
        "nowhere" => format!("The job is in no set, and its row is there, attempts {attempts}."),
        place => format!("The job is in {place}, attempts {attempts}."),
    }
}
