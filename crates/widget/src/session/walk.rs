//! `<emq-round-trip>` without its view.

use echomq_core::WireError;
use echomq_core::snippet::Language;

use super::model::{Attributes, Detail, Model, Told};
use super::round_trip::{AttributeError, DELAY_MS, RoundTrip, STEPS, delay_of, step_of};
use super::served::grouped;
use super::shown::Shown;
use super::staged::SceneError;
use super::stages::{SharedStage, Stages};
use crate::part::{self, Slot, escape};

pub const KEY: &str = "round-trip";
pub const TITLE: &str = "the round trip, walked";
/// The attributes that set the scene.
pub const ATTRIBUTES: [&str; 3] = ["queue", "delay", "step"];

const INITIAL: &str = "Press step to walk one job through claim → retry → promote → claim and watch the one counter \
                       carry both duties — counting the lives and fencing them.";
/// How long a step stands while the walk plays by itself.
const BEAT_MS: u64 = 2200;
/// The slots of the steps, in their order.
const STOPS: [&str; STEPS.len()] = ["at1", "at2", "at3", "at4"];

#[derive(Debug)]
pub struct Walk {
    trip: RoundTrip,
    shown: Shown,
    playing: bool,
    /// The step that the attributes ask for, if they can be taken.
    first: Result<usize, AttributeError>,
    /// What could not be done, and why; empty when nothing went wrong.
    trouble: String,
    language: Language,
    /// Counts the acts: an answer that is the same twice is told twice.
    acts: u32,
}

impl Walk {
    /// # Errors
    /// When the attribute `queue` cannot name a queue, or the engine brings no reply.
    pub fn new(attribute: Attributes<'_>, stages: &Stages) -> Result<Walk, SceneError> {
        let delay = delay_of(attribute("delay").as_deref());
        let stage = stages.open(attribute("queue"), KEY, 0)?;
        let trip = RoundTrip::on(stage, *delay.as_ref().unwrap_or(&DELAY_MS))?;
        let mut walk = Walk {
            trip,
            shown: Shown::default(),
            playing: false,
            first: delay.and_then(|_| attribute("step").map_or(Ok(0), |step| step_of(&step))),
            trouble: String::new(),
            language: Language::Shell,
            acts: 0,
        };
        walk.refresh();
        if walk.first != Ok(0) {
            walk.start();
        }
        Ok(walk)
    }

    pub fn markup() -> String {
        let stop = |(slot, step): (&&str, &super::round_trip::Step)| {
            let (number, name) = (slot.strip_prefix("at").unwrap_or(slot), step.name());
            format!(
                r#"<li part="stop"><button type="button" part="stop-button" data-ask="{slot}" data-slot="{slot}" data-follow><span class="sr">Step </span><b>{number}</b><span>{name}</span></button></li>"#
            )
        };
        let stops: String = STOPS.iter().zip(&STEPS).map(stop).collect();
        let (bar, scene) =
            (include_str!("../widget/round_trip_bar.html"), include_str!("../widget/round_trip.html"));
        part::frame(TITLE, bar, scene, &[("stops", &stops)])
    }

    /// Goes to a step and draws it; `false`: it could not.
    fn go_to(&mut self, at: usize) -> bool {
        let gone = self.trip.go_to(at);
        self.draw(gone)
    }

    fn draw(&mut self, gone: Result<(), WireError>) -> bool {
        match gone.and_then(|()| self.trip.shown()) {
            Ok(shown) => {
                self.trouble.clear();
                self.shown = shown;
                self.acts = self.acts.wrapping_add(1);
                true
            }
            Err(error) => {
                self.playing = false;
                self.trouble = error.to_string();
                false
            }
        }
    }

    fn start_at(&mut self, step: Result<usize, AttributeError>) {
        self.playing = false;
        self.go_to(*step.as_ref().unwrap_or(&0));
        if let Err(error) = step {
            self.trouble = error.to_string();
        }
    }

    /// One step further. What is told of the last one is told to listeners too: it sums the walk up.
    fn beat(&mut self) -> Vec<Told> {
        let next = self.trip.at() + 1;
        self.playing &= next < STEPS.len();
        self.walk_to(next)
    }

    fn play(&mut self) -> Vec<Told> {
        self.playing = !self.playing;
        match (self.playing, self.trip.at() == STEPS.len()) {
            (false, _) => Vec::new(),
            (true, true) => self.walk_to(0),
            (true, false) => self.beat(),
        }
    }

    fn walk_to(&mut self, at: usize) -> Vec<Told> {
        if !self.go_to(at) {
            return Vec::new();
        }
        let said = self.shown.said.clone().unwrap_or_default();
        vec![Told {
            event: "emq:step",
            detail: vec![
                ("step", Detail::Number(u32::try_from(self.trip.at()).unwrap_or(u32::MAX))),
                ("name", self.trip.last().map_or("", |step| step.name()).into()),
                ("answer", Detail::Text(said.readout.answer)),
                ("meaning", Detail::Text(said.readout.meaning)),
            ],
        }]
    }
}

impl Model for Walk {
    fn slots(&self) -> Vec<Slot> {
        let (at, trip) = (self.trip.at(), &self.trip);
        let flag = |slot, name, on: bool| Slot::Attribute(slot, name, on.to_string());
        let mut slots = part::drawn(&self.shown, INITIAL, self.language, self.acts);
        slots.push(Slot::Html("trouble", escape(&self.trouble)));
        slots.push(Slot::Attribute(
            "readout",
            "aria-live",
            if self.playing { "off" } else { "polite" }.into(),
        ));
        slots.push(flag("back", "aria-disabled", at == 0));
        slots.push(flag("restart", "aria-disabled", self.shown.steps == 0));
        slots.push(flag("step", "aria-disabled", at == STEPS.len()));
        slots.push(Slot::Html("play", if self.playing { "Pause" } else { "Play" }.to_owned()));
        for (stop, number) in STOPS.into_iter().zip(1..) {
            let current = if number == at { "step" } else { "false" };
            slots.push(Slot::Attribute(stop, "aria-current", current.to_owned()));
            slots.push(flag(stop, "data-taken", number <= at));
        }
        slots.push(Slot::Html("time", format!("+{} ms", grouped(trip.elapsed_ms()))));
        slots.push(Slot::Html("due", format!("due +{} ms", grouped(trip.delay_ms()))));
        slots.push(flag("clock", "data-late", trip.elapsed_ms() > 0));
        slots
    }

    fn ask(&mut self, what: &str, value: &str) -> Vec<Told> {
        let at = self.trip.at();
        let to = match what {
            "beat" if self.playing => return self.beat(),
            "play" => return self.play(),
            "language" => {
                self.language = part::language_of(value);
                return Vec::new();
            }
            "step" | "ArrowRight" => (at + 1).min(STEPS.len()),
            "back" | "ArrowLeft" => at.saturating_sub(1),
            "restart" | "Home" => 0,
            "End" => STEPS.len(),
            _ => match STOPS.iter().position(|stop| *stop == what) {
                Some(stop) => stop + 1,
                None => return Vec::new(),
            },
        };
        // The reader goes somewhere: a walk that plays by itself ends.
        self.playing = false;
        self.walk_to(to)
    }

    fn open(&mut self, values: &[(String, String)]) {
        if let Some((_, step)) = values.iter().find(|(name, _)| name == "step") {
            self.start_at(step_of(step));
        }
    }

    fn link(&self) -> Vec<(&'static str, String)> {
        vec![("step", self.trip.at().to_string())]
    }

    fn stage(&self) -> Option<&SharedStage> {
        Some(self.trip.stage())
    }

    fn start(&mut self) {
        self.start_at(self.first.clone());
    }

    fn refresh(&mut self) {
        self.draw(Ok(()));
    }

    fn beat_ms(&self) -> Option<u64> {
        self.playing.then_some(BEAT_MS)
    }
}
