//! All interleavings, counted: for each way to finish a bar of its outcomes, and a table with the shortest order of
//! each as a button.

use echomq_core::scenario::race::Handled;

use crate::session::race::Explored;

pub fn html(explored: &[Explored]) -> String {
    explored.iter().map(table).collect()
}

fn table((way, report): &Explored) -> String {
    let rows: String = Handled::ALL
        .into_iter()
        .map(|handled| {
            let found = report.outcomes.get(&handled);
            let witness = found.map(|found| {
                format!(
                    r#"<button type="button" part="witness" data-ask="{}:{1}">{1}<span class="sr">: load this order, {2}</span></button>"#,
                    way.name(),
                    found.witness,
                    handled.words()
                )
            });
            format!(
                r#"<tr data-handled="{}"><th scope="row">{}</th><td>{}</td><td>{}</td></tr>"#,
                handled.name(),
                handled.words(),
                found.map_or(0, |found| found.schedules),
                witness.unwrap_or_default()
            )
        })
        .collect();
    format!(
        r#"<table><caption>{}: {} orders{}</caption><thead class="sr"><tr><th scope="col">outcome</th><th scope="col">orders</th><th scope="col">the shortest</th></tr></thead><tbody>{rows}</tbody></table>"#,
        way.words(),
        report.schedules,
        shares((way, report))
    )
}

/// A drawing, because a style attribute in markup is what a page's policy forbids.
fn shares(
    (_, report): (&echomq_core::scenario::race::Completion, &echomq_core::explore::Report<Handled>),
) -> String {
    let mut from = 0;
    let mut rects = String::new();
    for (handled, found) in &report.outcomes {
        let (name, width) = (handled.name(), found.schedules);
        rects.push_str(&format!(r#"<rect data-handled="{name}" x="{from}" width="{width}" height="1"/>"#));
        from += width;
    }
    format!(
        r#"<svg class="shares" viewBox="0 0 {from} 1" preserveAspectRatio="none" aria-hidden="true" focusable="false">{rects}</svg>"#
    )
}
