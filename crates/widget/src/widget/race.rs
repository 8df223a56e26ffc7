//! `<emq-race>`: two ways to finish a job, with a reaper running, and the learner as the scheduler.

use echomq_core::EngineWire;
use echomq_core::scenario::race::{Completion, Handled};
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use web_sys::{Element, HtmlElement, KeyboardEvent};

use super::link::Link;
use crate::element::Host;
use crate::part::{self, lanes, word};
use crate::session::race::{Explored, PRESETS, Race};
use crate::session::shown::Shown;

pub const STYLE: &str = concat!(include_str!("../part/lanes.css"), include_str!("race.css"));

const KIND: &str = "race";
const TITLE: &str = "two ways to finish a job, with a reaper running";
const INITIAL: &str = "Select a step. As separate commands, the reaper interleaves between the worker's read and \
                       write; as one EVALSHA, the whole read-decide-write runs before any other command.";

/// What an attribute or an address must say.
const NO_WAY: &str = "A race is finished by split or by evalsha: this names neither.";

/// The race as its controls reach it. Copies are the same race.
#[derive(Clone, Copy)]
struct Desk {
    race: RwSignal<Race, LocalStorage>,
    host: StoredValue<Host, LocalStorage>,
    link: Link,
    /// What could not be done, and why; empty when nothing went wrong.
    problem: RwSignal<String>,
}

pub fn view(host: Host) -> AnyView {
    let queue = host.element.get_attribute("queue").unwrap_or_else(|| KIND.to_owned());
    let wire = Box::new(EngineWire::default().traced());
    let race = match Race::new(wire, &queue, Completion::Split) {
        Ok(race) => RwSignal::new_local(race),
        Err(error) => return part::problem(&error.to_string()),
    };
    let host = StoredValue::new_local(host);
    let desk = Desk { race, host, link: Link::new(host, KIND), problem: RwSignal::default() };
    desk.set_scene();
    desk.view()
}

impl Desk {
    fn view(self) -> AnyView {
        let Desk { race, problem, .. } = self;
        let shown: Signal<Shown> = Memo::new(move |_| race.with(Race::shown)).into();
        let asks = lanes::Asks {
            choose: UnsyncCallback::new(move |actor| self.choose(actor)),
            select: UnsyncCallback::new(move |at| self.select(at)),
        };
        // A plain command has no script to show.
        let plain = move || shown.with(|shown| shown.listing.body.is_empty());
        view! {
            <div part="widget" role="group" aria-label=TITLE>
                <div part="bar">
                    <p part="title">{TITLE}</p>
                    {self.buttons()}
                </div>
                <div part="scene">
                    <div part="ways">
                        {self.ways()}
                        <p part="hint">"You are the scheduler: choose whose command Valkey serves next, by hand or with the keys W, R and N."</p>
                    </div>
                    <div on:keydown=move |event| self.key(&event)>{lanes::view(race, asks)}</div>
                    <p part="problem" role="alert" hidden=move || problem.with(String::is_empty)>
                        {move || problem.get()}
                    </p>
                    <div part="answered">
                        {move || race.with(Race::outcome).map(verdict)}
                        {part::readout_view(shown, word(INITIAL), Signal::stored(false))}
                    </div>
                    {part::diagram_view(shown)}
                    {self.runs()}
                </div>
                <div part="inside" class:plain=plain>
                    {part::script_view(shown)}
                    {part::keys_view(shown)}
                </div>
                {part::calls_view(shown)}
            </div>
        }
        .into_any()
    }

    /// The two ways to finish.
    fn ways(self) -> AnyView {
        let way = move |way: Completion| {
            let current = move || self.race.with(Race::completion) == way;
            view! {
                <button
                    type="button"
                    part="way"
                    aria-pressed=move || if current() { "true" } else { "false" }
                    on:click=move |_| self.load(way, "")
                >
                    {way.words()}
                </button>
            }
            .into_any()
        };
        part::group("How the worker completes", Completion::ALL.map(way).into())
    }

    fn buttons(self) -> AnyView {
        let race = self.race;
        let at_start = Signal::derive(move || race.with(|race| race.run().taken.is_empty()));
        let at_end = Signal::derive(move || race.with(|race| race.at() == race.run().taken.len()));
        let back = Callback::new(move |()| self.change(|race| race.back().map(drop)));
        let fork = Callback::new(move |()| self.change(Race::fork));
        let reset = Callback::new(move |()| self.change(|race| race.load("")));
        part::group(
            "The run",
            vec![
                part::press("button", "", word("Back"), at_start, back),
                part::press("button", "", word("Go on from here"), at_end, fork),
                part::press("button", "", word("Reset"), at_start, reset),
            ],
        )
    }

    /// Runs worth a button, and all of them.
    fn runs(self) -> AnyView {
        let presets = PRESETS.map(|preset| {
            let load = Callback::new(move |()| self.load(preset.completion, preset.schedule));
            part::press("button", "", word(preset.name), Signal::stored(false), load)
        });
        let explored = RwSignal::new_local(None::<Result<Vec<Explored>, String>>);
        // They are always the same, so that they run once, when somebody wants to see them.
        let explore = move |_| {
            if explored.with_untracked(Option::is_none) {
                let found = self.race.with_untracked(Race::compare);
                explored.set(Some(found.map_err(|error| error.to_string())));
            }
        };
        let tables = move || {
            explored.get().map(|found| match found {
                Ok(found) => found.into_iter().map(|found| self.explored(found)).collect_view().into_any(),
                Err(error) => part::problem(&error),
            })
        };
        view! {
            <div part="runs">
                {part::group("Runs to load", presets.into())}
                <details on:toggle=explore>
                    <summary>"All interleavings"</summary>
                    <div part="interleavings">{tables}</div>
                </details>
            </div>
        }
        .into_any()
    }

    /// One way to finish with the counts of its outcomes.
    fn explored(self, (way, report): Explored) -> impl IntoView + use<> {
        let outcomes = Handled::ALL.map(|handled| (handled, report.outcomes.get(&handled).cloned()));
        let shares = outcomes.clone().map(|(handled, found)| {
            let found = found?;
            Some(view! { <span data-handled=handled.name() style:flex-grow=found.schedules.to_string()></span> })
        });
        let rows = outcomes.map(|(handled, found)| {
            let none = found.is_none();
            let orders = found.as_ref().map_or(0, |found| found.schedules);
            let witness = found.map(|found| self.witness(way, handled, found.witness.to_string()));
            view! {
                <tr data-handled=handled.name() class:none=none>
                    <th scope="row">{handled.words()}</th>
                    <td>{orders}</td>
                    <td>{witness}</td>
                </tr>
            }
        });
        view! {
            <div>
                <table>
                    <caption>
                        {way.words()} ": " {report.schedules} " orders"
                        <div class="shares" aria-hidden="true">{shares.collect_view()}</div>
                    </caption>
                    <thead class="sr">
                        <tr>
                            <th scope="col">"outcome"</th>
                            <th scope="col">"orders"</th>
                            <th scope="col">"the shortest"</th>
                        </tr>
                    </thead>
                    <tbody>{rows.collect_view()}</tbody>
                </table>
            </div>
        }
    }

    /// The shortest order of an outcome, to load.
    fn witness(self, way: Completion, handled: Handled, schedule: String) -> impl IntoView + use<> {
        let label = format!("{schedule}: load this order, {}", handled.words());
        let shown = schedule.clone();
        view! {
            <button type="button" part="witness" aria-label=label on:click=move |_| self.load(way, &schedule)>
                {shown}
            </button>
        }
    }

    /// The scene that the attributes set, and the run that the address names; again whenever they change.
    fn set_scene(self) {
        self.stage();
        self.link.follow(move |values| {
            let run = values.into_iter().find_map(|(name, run)| Some((Completion::named(&name)?, run)));
            match run {
                Some((way, run)) => self.show(way, &run),
                None => self.problem.set(NO_WAY.to_owned()),
            }
        });
        Effect::new(move |staged: Option<()>| {
            self.host.with_value(|host| ["mode", "schedule"].map(|name| host.attribute(name)));
            if staged.is_some() {
                self.stage();
            }
        });
    }

    fn stage(self) {
        let attribute = |name: &str| self.host.with_value(|host| host.element.get_attribute(name));
        let way = attribute("mode").map_or(Some(Completion::Split), |mode| Completion::named(&mode));
        match way {
            Some(way) => self.show(way, &attribute("schedule").unwrap_or_default()),
            None => self.problem.set(NO_WAY.to_owned()),
        }
    }

    fn choose(self, actor: usize) {
        if self.run(|race| race.choose(actor)) == Some(true) {
            self.tell();
        }
    }

    fn select(self, at: usize) {
        self.race.update(|race| race.select(at));
    }

    /// The reader takes steps back.
    fn change<E: ToString>(self, act: impl FnOnce(&mut Race) -> Result<(), E>) {
        if self.run(act).is_some() {
            self.tell();
        }
    }

    fn load(self, way: Completion, schedule: &str) {
        self.show(way, schedule);
        self.tell();
    }

    /// Like [`Desk::load`], and tells nobody.
    fn show(self, way: Completion, schedule: &str) {
        self.run(|race| {
            race.set_completion(way).map_err(|error| error.to_string())?;
            race.load(schedule).map_err(|error| error.to_string())
        });
    }

    /// Does it, and shows why not if it fails.
    fn run<T, E: ToString>(self, act: impl FnOnce(&mut Race) -> Result<T, E>) -> Option<T> {
        let done = self.race.try_update(act)?;
        self.problem.set(done.as_ref().err().map(ToString::to_string).unwrap_or_default());
        done.ok()
    }

    /// The events: what was served, and, at the end, what became of the job.
    fn tell(self) {
        let (way, schedule, said, outcome) = self.race.with_untracked(|race| {
            (race.completion().name(), race.schedule().to_string(), race.shown().said, race.outcome())
        });
        let said = said.unwrap_or_default();
        let run = [("mode", way.into()), ("schedule", (&*schedule).into())];
        let [mode, schedule_detail] = run.clone();
        self.host.with_value(|host| {
            let answer = ("answer", said.readout.answer.into());
            host.tell("emq:step", &[mode, schedule_detail, ("sent", said.prompt.into()), answer]);
            if let Some(handled) = outcome {
                let [mode, schedule] = run;
                host.tell("emq:verdict", &[mode, schedule, ("handled", handled.name().into())]);
            }
        });
        self.link.write(&[(way, &schedule)]);
    }

    /// Left, right, Home and End go along the run; an actor's letter takes its step.
    fn key(self, event: &KeyboardEvent) {
        if event.alt_key() || event.ctrl_key() || event.meta_key() {
            return;
        }
        let (at, steps) = self.race.with_untracked(|race| (race.at(), race.run().taken.len()));
        let key = event.key();
        let to = match &*key {
            "ArrowLeft" => at.saturating_sub(1),
            "ArrowRight" => at + 1,
            "Home" => 0,
            "End" => steps,
            _ => {
                let actor = self.race.with_untracked(|race| race.actor_of(&key));
                if let Some(actor) = actor {
                    event.prevent_default();
                    self.choose(actor);
                }
                return;
            }
        };
        event.prevent_default();
        self.select(to.min(steps));
        follow(event, to.min(steps));
    }
}

/// The focus goes along when it is on a step; on a choice it stays.
fn follow(event: &KeyboardEvent, to: usize) {
    let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    let lanes = event.current_target().and_then(|lanes| lanes.dyn_into::<Element>().ok());
    let (Some(target), Some(lanes)) = (target, lanes) else { return };
    if !target.has_attribute("data-at") {
        return;
    }
    let step = lanes.query_selector(&format!("[data-at='{to}']")).ok().flatten();
    if let Some(step) = step.and_then(|step| step.dyn_into::<HtmlElement>().ok()) {
        // A step that cannot take the focus leaves it where it is.
        let _ = step.focus();
    }
}

fn verdict(handled: Handled) -> impl IntoView {
    view! { <p part="verdict" data-handled=handled.name()>{handled.words()}</p> }
}
