//! Where the job is: five places, the verbs between them, and the job as a dot that moves. The drawing never changes;
//! `data-at` on what holds it says where the dot is, and the style sheet moves it.

pub const SVG: &str = include_str!("diagram.svg").trim_ascii_end();

/// What the drawing says, in words.
pub fn words(place: &str, attempts: &str) -> String {
    match place {
        "gone" => "The job is gone: no row, in no set.".to_owned(),
        "nowhere" => format!("The job is in no set, and its row is there, attempts {attempts}."),
        place => format!("The job is in {place}, attempts {attempts}."),
    }
}
