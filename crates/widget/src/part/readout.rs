//! The answer: what was sent, what the wire said, and one sentence. It stands in the widget's one live region.

use super::escape;
use crate::session::shown::Said;

pub fn html(said: Option<&Said>, initial: &str) -> String {
    let Some(said) = said else {
        return format!(r#"<p part="meaning" class="initial">{}</p>"#, escape(initial));
    };
    format!(
        r#"<p part="prompt"><code>{}</code></p><p part="answer" class="{}"><code>{}</code></p><p part="meaning">{}</p>"#,
        escape(&said.prompt),
        if said.refused { "refused" } else { "passed" },
        escape(&said.readout.answer),
        escape(&said.readout.meaning)
    )
}
