//! Swim lanes: who sends what, and in which order Valkey serves it. What an actor would send next is a button at the
//! end of its lane; what was served is one in its lane and a block in the server's.
//!
//! The markup has room for the longest run and never changes, so that no redraw takes the focus away; slots say what
//! stands where. One list holds both forms: in a wide element it is a grid of lanes, in a narrow one a timeline with
//! rails, and the styles alone tell them apart.

use super::{Slot, escape};
use crate::session::race::Race;
use crate::session::served::{Lane, Served};

/// How many steps there is room for.
pub const ROOM: usize = 6;

/// By number of steps taken: the buttons that look at the queue then. The first is the start.
const AT: [&str; ROOM + 1] = ["at0", "at1", "at2", "at3", "at4", "at5", "at6"];
const ENTRY: [&str; ROOM] = ["entry1", "entry2", "entry3", "entry4", "entry5", "entry6"];
const ANSWER: [&str; ROOM] = ["answer1", "answer2", "answer3", "answer4", "answer5", "answer6"];
/// By actor: the buttons that take its next step.
const CHOICE: [&str; 3] = ["choose0", "choose1", "choose2"];

/// What a reader asks for in the lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The actor's next step.
    Choose(usize),
    /// To look at the queue after so many steps.
    Select(usize),
}

pub fn asked(what: &str) -> Option<Asked> {
    let find = |names: &[&str]| names.iter().position(|name| *name == what);
    find(&CHOICE).map(Asked::Choose).or_else(|| find(&AT).map(Asked::Select))
}

pub fn markup(lanes: &[Lane]) -> String {
    let letters: String =
        lanes.iter().flat_map(|lane| [' ', lane.letter, ' ', lane.letter.to_ascii_lowercase()]).collect();
    let names: String = lanes.iter().enumerate().map(|(actor, lane)| name(actor, lane)).collect();
    let entries: String = (0..ROOM).map(entry).collect();
    let choices: String = CHOICE.iter().enumerate().map(|(actor, slot)| choice(actor, slot)).collect();
    format!(
        concat!(
            r#"<div class="lanes" part="lanes" data-slot="lanes" data-keys="ArrowLeft ArrowRight Home End{}">"#,
            r#"{}<p class="lane-name" data-lane="server">Valkey serves</p>"#,
            r#"<span class="transition" data-slot="transition" aria-hidden="true"></span>"#,
            r#"<ol class="served" role="list" aria-label="Steps in the order in which Valkey served them">"#,
            r#"<li class="entry"><button type="button" class="start" data-ask="at0" data-slot="at0" data-follow>"#,
            r#"the job at start <span class="place" data-slot="start"></span></button></li>{}</ol>"#,
            r#"<div class="choices" role="group" aria-label="Whose step does Valkey serve next?">{}</div></div>"#,
        ),
        letters, names, entries, choices
    )
}

pub fn slots(race: &Race) -> Vec<Slot> {
    let (lanes, served, transition) = (race.lanes(), race.served(), race.transition());
    let attribute = |slot, name, value: String| Slot::Attribute(slot, name, value);
    let current = |at| if race.at() == at { "step" } else { "false" }.to_owned();
    let mut slots = vec![
        attribute("lanes", "data-steps", served.len().to_string()),
        attribute("lanes", "data-longest", race.longest().to_string()),
        attribute("transition", "data-from", transition.map_or(String::new(), |span| span.first.to_string())),
        attribute("transition", "data-to", transition.map_or(String::new(), |span| span.last.to_string())),
        attribute("transition", "data-torn", transition.is_some_and(|span| span.torn).to_string()),
        attribute(AT[0], "aria-current", current(0)),
        Slot::Html("start", escape(&race.start_place())),
    ];
    for (at, slot) in ENTRY.into_iter().enumerate() {
        let step = served.get(at);
        let inside = transition.is_some_and(|span| (span.first..=span.last).contains(&at));
        let lane = step.map_or_else(|| "none".to_owned(), |step| step.actor.to_string());
        slots.push(attribute(slot, "data-lane", lane));
        slots.push(attribute(slot, "data-inside", inside.to_string()));
        slots.push(attribute(AT[at + 1], "aria-current", current(at + 1)));
        let lane = step.and_then(|step| lanes.get(step.actor));
        slots.push(Slot::Html(
            AT[at + 1],
            step.zip(lane).map(|(step, lane)| sent(at + 1, step, lane)).unwrap_or_default(),
        ));
        slots.push(Slot::Html(
            ANSWER[at],
            step.zip(lane).map(|(step, lane)| answer(at + 1, step, lane)).unwrap_or_default(),
        ));
    }
    for (slot, lane) in CHOICE.into_iter().zip(&lanes) {
        slots.push(attribute(slot, "aria-disabled", lane.next.is_none().to_string()));
        slots.push(Slot::Html(slot, next(lane)));
    }
    slots
}

fn name(actor: usize, lane: &Lane) -> String {
    format!(
        r#"<p class="lane-name" data-lane="{actor}"><b class="letter">{}</b> {}</p>"#,
        lane.letter, lane.name
    )
}

fn entry(at: usize) -> String {
    format!(
        r#"<li class="entry" data-slot="{}"><button type="button" class="step" data-ask="{2}" data-slot="{2}" data-follow></button><div class="told" data-slot="{1}"></div></li>"#,
        ENTRY[at],
        ANSWER[at],
        AT[at + 1]
    )
}

/// It stays when the actor has finished, so that the focus does not fall away under a reader's finger.
fn choice(actor: usize, slot: &str) -> String {
    format!(
        r#"<button type="button" class="choice" data-lane="{actor}" data-ask="{slot}" data-slot="{slot}"></button>"#
    )
}

fn sent(number: usize, step: &Served, lane: &Lane) -> String {
    format!(r#"<span class="sr">Step {number}, {}: </span>{}"#, lane.name, escape(step.label))
}

fn answer(number: usize, step: &Served, lane: &Lane) -> String {
    let unlawful = if step.lawful { "" } else { " unlawful" };
    format!(
        r#"<span class="rail" aria-hidden="true">{}</span><span class="reply"><span class="number">{number}</span> {}</span><span class="place{unlawful}">{}</span>"#,
        lane.letter,
        escape(&step.brief),
        escape(&step.place)
    )
}

fn next(lane: &Lane) -> String {
    let label = lane.next.unwrap_or("finished");
    format!(
        r#"<b class="letter" aria-hidden="true">{}</b><span class="sr">{}: </span>{}"#,
        lane.letter,
        lane.name,
        escape(label)
    )
}
