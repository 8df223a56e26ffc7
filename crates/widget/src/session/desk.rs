//! `<emq-race>` without its view.

use echomq_core::scenario::race::{Completion, Handled};
use echomq_core::snippet::Language;
use echomq_core::{EngineWire, WireError};

use super::model::{Attributes, Detail, Model, Told};
use super::race::{PRESETS, Race};
use super::staged::SceneError;
use crate::part::lanes::{self, Asked};
use crate::part::{self, Slot, escape, orders};

pub const KEY: &str = "race";
pub const TITLE: &str = "two ways to finish a job, with a reaper running";
/// The attributes that set the scene.
pub const ATTRIBUTES: [&str; 3] = ["queue", "mode", "schedule"];

const INITIAL: &str = "Select a step. As separate commands, the reaper interleaves between the worker's read and \
                       write; as one EVALSHA, the whole read-decide-write runs before any other command.";
/// What an attribute or an address must say.
const NO_WAY: &str = "A race is finished by split or by evalsha: this names neither.";

#[derive(Debug)]
pub struct Desk {
    race: Race,
    /// What could not be done, and why; empty when nothing went wrong.
    trouble: String,
    language: Language,
    /// All interleavings, once somebody wanted to see them: they are always the same.
    orders: Option<String>,
    orders_open: bool,
    /// Counts the acts: an answer that is the same twice is told twice.
    acts: u32,
}

impl Desk {
    /// # Errors
    /// When the attribute `queue` cannot name a queue, or the engine brings no reply.
    pub fn new(attribute: Attributes<'_>) -> Result<Desk, SceneError> {
        let queue = attribute("queue").unwrap_or_else(|| KEY.to_owned());
        let race = Race::new(Box::new(EngineWire::default().traced()), &queue, Completion::Split)?;
        let mut desk = Desk {
            race,
            trouble: String::new(),
            language: Language::Shell,
            orders: None,
            orders_open: false,
            acts: 0,
        };
        let way = attribute("mode").unwrap_or_else(|| Completion::Split.name().to_owned());
        desk.show(&way, &attribute("schedule").unwrap_or_default());
        Ok(desk)
    }

    pub fn markup(&self) -> String {
        let way = |way: Completion| {
            format!(
                r#"<button type="button" part="way" data-ask="{0}" data-slot="{0}">{1}</button>"#,
                way.name(),
                way.words()
            )
        };
        let preset = |preset: super::race::Preset| {
            let (way, schedule, name) = (preset.completion.name(), preset.schedule, preset.name);
            format!(r#"<button type="button" part="button" data-ask="{way}:{schedule}">{name}</button>"#)
        };
        let (ways, presets) = (Completion::ALL.map(way).concat(), PRESETS.map(preset).concat());
        let lanes = lanes::markup(&self.race.lanes());
        let own = [("ways", &*ways), ("lanes", &lanes), ("presets", &presets)];
        part::frame(TITLE, include_str!("../widget/race_bar.html"), include_str!("../widget/race.html"), &own)
    }

    /// Starts over with this run; `false`: it is none.
    fn show(&mut self, way: &str, schedule: &str) -> bool {
        let Some(way) = Completion::named(way) else {
            self.trouble = NO_WAY.to_owned();
            return false;
        };
        self.run(|race| {
            race.set_completion(way).map_err(|error| error.to_string())?;
            race.load(schedule).map_err(|error| error.to_string())
        })
        .is_some()
    }

    /// Does it, and says why not if it fails.
    fn run<T, E: ToString>(&mut self, act: impl FnOnce(&mut Race) -> Result<T, E>) -> Option<T> {
        let done = act(&mut self.race);
        self.trouble = done.as_ref().err().map(ToString::to_string).unwrap_or_default();
        self.acts = self.acts.wrapping_add(1);
        done.ok()
    }

    /// The learner looks at the queue after so many steps, which nobody else is told.
    fn select(&mut self, at: usize) -> Vec<Told> {
        self.race.select(at);
        self.acts = self.acts.wrapping_add(1);
        Vec::new()
    }

    fn choose(&mut self, actor: usize) -> Vec<Told> {
        if self.run(|race| race.choose(actor)) == Some(true) { self.told() } else { Vec::new() }
    }

    fn change<E: ToString>(&mut self, act: impl FnOnce(&mut Race) -> Result<(), E>) -> Vec<Told> {
        if self.run(act).is_some() { self.told() } else { Vec::new() }
    }

    fn show_orders(&mut self) -> Vec<Told> {
        if self.orders.is_none() {
            let orders = self.run(|race| Ok::<_, WireError>(orders::html(&race.compare()?)));
            self.orders = orders;
        }
        self.orders_open = !self.orders_open;
        Vec::new()
    }

    /// What was served last, and, at the end, what became of the job.
    fn told(&self) -> Vec<Told> {
        let text = Detail::Text;
        let run = || {
            vec![
                ("mode", self.race.completion().name().into()),
                ("schedule", text(self.race.schedule().to_string())),
            ]
        };
        let said = self.race.shown().said.unwrap_or_default();
        let mut step = run();
        step.extend([("sent", text(said.prompt)), ("answer", text(said.readout.answer))]);
        let verdict = self.race.outcome().map(|handled| {
            let mut detail = run();
            detail.push(("handled", handled.name().into()));
            Told { event: "emq:verdict", detail }
        });
        [Told { event: "emq:step", detail: step }].into_iter().chain(verdict).collect()
    }
}

impl Model for Desk {
    fn slots(&self) -> Vec<Slot> {
        let (race, shown) = (&self.race, self.race.shown());
        let steps = race.run().taken.len();
        let flag = |slot, name, on: bool| Slot::Attribute(slot, name, on.to_string());
        let mut slots = part::drawn(&shown, INITIAL, self.language, self.acts);
        slots.extend(lanes::slots(race));
        for way in Completion::ALL {
            slots.push(flag(way.name(), "aria-pressed", way == race.completion()));
        }
        let outcome = race.outcome();
        slots.extend([
            Slot::Html("trouble", escape(&self.trouble)),
            flag("back", "aria-disabled", steps == 0),
            flag("fork", "aria-disabled", race.at() == steps),
            flag("reset", "aria-disabled", steps == 0),
            // A plain command runs no script that could be shown.
            flag("inside", "data-plain", shown.listing.body.is_empty()),
            Slot::Html("verdict", outcome.map_or("", Handled::words).to_owned()),
            Slot::Attribute("verdict", "data-handled", outcome.map_or("", Handled::name).to_owned()),
            flag("orders", "aria-expanded", self.orders_open),
            Slot::Html("tables", self.orders.clone().filter(|_| self.orders_open).unwrap_or_default()),
        ]);
        slots
    }

    fn ask(&mut self, what: &str, value: &str) -> Vec<Told> {
        let (at, steps) = (self.race.at(), self.race.run().taken.len());
        match lanes::asked(what) {
            Some(Asked::Choose(actor)) => return self.choose(actor),
            Some(Asked::Select(at)) => return self.select(at),
            None => {}
        }
        match what {
            "back" => self.change(|race| race.back().map(drop)),
            "fork" => self.change(Race::fork),
            "reset" => self.change(|race| race.load("")),
            "orders" => self.show_orders(),
            "ArrowLeft" => self.select(at.saturating_sub(1)),
            "ArrowRight" => self.select((at + 1).min(steps)),
            "Home" => self.select(0),
            "End" => self.select(steps),
            "language" => {
                self.language = part::language_of(value);
                Vec::new()
            }
            _ => match (self.race.actor_of(what), what.split_once(':').unwrap_or((what, ""))) {
                (Some(actor), _) => self.choose(actor),
                (None, (way, schedule)) if self.show(way, schedule) => self.told(),
                (None, _) => Vec::new(),
            },
        }
    }

    fn open(&mut self, values: &[(String, String)]) {
        let run = values.iter().find(|(way, _)| Completion::named(way).is_some());
        let (way, schedule) = run.map_or(("", ""), |(way, schedule)| (way, schedule));
        self.show(way, schedule);
    }

    fn link(&self) -> Vec<(&'static str, String)> {
        vec![(self.race.completion().name(), self.race.schedule().to_string())]
    }
}
