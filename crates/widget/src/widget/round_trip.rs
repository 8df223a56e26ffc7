//! `<emq-round-trip>`: one job through its two lives, step by step.

use std::time::Duration;

use echomq_core::EngineWire;
use leptos::leptos_dom::helpers::TimeoutHandle;
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use web_sys::{Element, HtmlElement, KeyboardEvent};

use super::link::Link;
use crate::element::Host;
use crate::part::{self, live, word};
use crate::session::round_trip::{AttributeError, DELAY_MS, RoundTrip, STEPS, delay_of, step_of};
use crate::session::served::grouped;
use crate::session::shown::Shown;

pub const STYLE: &str = include_str!("round_trip.css");

const KIND: &str = "round-trip";
const TITLE: &str = "the round trip, walked";
const INITIAL: &str = "Press step to walk one job through claim → retry → promote → claim and watch the one counter \
                       carry both duties — counting the lives and fencing them.";
/// How long a step stands while the walk plays by itself.
const BEAT: Duration = Duration::from_millis(2200);

/// The walk as its controls reach it. Copies are the same walk.
#[derive(Clone, Copy)]
struct Walk {
    trip: RwSignal<RoundTrip, LocalStorage>,
    shown: RwSignal<Shown>,
    playing: RwSignal<bool>,
    next_beat: StoredValue<Option<TimeoutHandle>>,
    problem: RwSignal<String>,
    host: StoredValue<Host, LocalStorage>,
    link: Link,
}

pub fn view(host: Host) -> AnyView {
    let queue = host.element.get_attribute("queue").unwrap_or_else(|| KIND.to_owned());
    let trip = match RoundTrip::new(Box::new(EngineWire::default().traced()), &queue, DELAY_MS) {
        Ok(trip) => RwSignal::new_local(trip),
        Err(error) => return part::problem(&error.to_string()),
    };
    let host = StoredValue::new_local(host);
    let walk = Walk {
        trip,
        shown: RwSignal::default(),
        playing: RwSignal::new(false),
        next_beat: StoredValue::new(None),
        problem: RwSignal::default(),
        host,
        link: Link::new(host, KIND),
    };
    walk.set_scene();
    on_cleanup(move || walk.pause());
    walk.view()
}

impl Walk {
    fn view(self) -> AnyView {
        let Walk { trip, playing, problem, .. } = self;
        let shown: Signal<Shown> = self.shown.into();
        view! {
            <div part="widget" role="group" aria-label=TITLE>
                <div part="bar">
                    <p part="title">{TITLE}</p>
                    {self.buttons()}
                </div>
                <div part="scene">
                    <ol part="walk" role="list" aria-label="The four steps" on:keydown=move |event| self.key(&event)>
                        {STEPS.iter().enumerate().map(|(at, step)| self.stop(at + 1, step.name())).collect_view()}
                    </ol>
                    <div part="lives">
                        {part::diagram_view(shown)}
                        <p part="caption">"one job, two lives, one counter"</p>
                    </div>
                    {clock(trip)}
                    <p part="problem" role="alert" hidden=move || problem.with(String::is_empty)>
                        {move || problem.get()}
                    </p>
                    {part::readout_view(shown, word(INITIAL), playing.into())}
                </div>
                <div part="inside">
                    {part::script_view(shown)}
                    {part::keys_view(shown)}
                </div>
                {part::calls_view(shown)}
            </div>
        }
        .into_any()
    }

    fn buttons(self) -> AnyView {
        let Walk { trip, playing, .. } = self;
        let at_start = Signal::derive(move || trip.with(|trip| trip.at() == 0));
        let at_end = Signal::derive(move || trip.with(|trip| trip.at() == STEPS.len()));
        let play = live(move || if playing.get() { "Pause" } else { "Play" }.to_owned());
        let to = move |at: fn(usize) -> usize| {
            Callback::new(move |()| self.go_to(at(trip.with_untracked(RoundTrip::at))))
        };
        part::group(
            "Walk",
            vec![
                part::press("button", "", word("Back"), at_start, to(|at| at.saturating_sub(1))),
                part::press("button primary", "", word("Step"), at_end, to(|at| at + 1)),
                part::press(
                    "button",
                    "",
                    play,
                    Signal::stored(false),
                    Callback::new(move |()| self.toggle()),
                ),
                part::press("button", "", word("Restart"), at_start, to(|_| 0)),
            ],
        )
    }

    /// A step of the walk, to go to.
    fn stop(self, at: usize, name: &'static str) -> impl IntoView {
        let taken = move || self.trip.with(RoundTrip::at);
        let done = move || at <= taken();
        view! {
            <li part="stop" class:taken=done>
                <button
                    type="button"
                    part="stop-button"
                    data-at=at.to_string()
                    aria-current=move || (taken() == at).then_some("step")
                    on:click=move |_| self.go_to(at)
                >
                    <span class="sr">"Step "</span>
                    <b>{at.to_string()}</b>
                    <span>{name}</span>
                </button>
            </li>
        }
    }

    /// The reader goes somewhere: a walk that plays by itself ends.
    fn go_to(self, at: usize) {
        self.pause();
        self.walk_to(at);
    }

    fn walk_to(self, at: usize) {
        if self.run(|trip| trip.go_to(at)) {
            self.tell();
        }
    }

    fn toggle(self) {
        if self.playing.get_untracked() {
            self.pause();
            return;
        }
        self.playing.set(true);
        if self.trip.with_untracked(RoundTrip::at) == STEPS.len() {
            self.walk_to(0);
            self.wait();
        } else {
            self.beat();
        }
    }

    fn beat(self) {
        let next = self.trip.with_untracked(RoundTrip::at) + 1;
        // What is told of the last step is told to listeners too: it sums the walk up.
        if next >= STEPS.len() {
            self.playing.set(false);
        }
        self.walk_to(next);
        if next < STEPS.len() {
            self.wait();
        }
    }

    fn wait(self) {
        // Without a timer the walk stands still, and the button says so.
        match set_timeout_with_handle(move || self.beat(), BEAT) {
            Ok(handle) => self.next_beat.set_value(Some(handle)),
            Err(_) => self.playing.set(false),
        }
    }

    fn pause(self) {
        if let Some(handle) = self.next_beat.try_update_value(Option::take).flatten() {
            handle.clear();
        }
        self.playing.try_set(false);
    }

    /// Does it, draws what came of it, and shows why not if it fails.
    fn run<E: ToString>(self, act: impl FnOnce(&mut RoundTrip) -> Result<(), E>) -> bool {
        let done = self.trip.try_update(|trip| {
            act(trip).map_err(|error| error.to_string())?;
            trip.shown().map_err(|error| error.to_string())
        });
        match done {
            Some(Ok(shown)) => {
                self.problem.set(String::new());
                self.shown.set(shown);
                true
            }
            Some(Err(error)) => {
                self.problem.set(error);
                false
            }
            None => false,
        }
    }

    /// Tells the page, and its address where the element has `link`.
    fn tell(self) {
        let at = self.trip.with_untracked(RoundTrip::at);
        let step = self.trip.with_untracked(|trip| trip.last().map_or("", |step| step.name()));
        let said = self.shown.with_untracked(|shown| shown.said.clone()).unwrap_or_default();
        let number = u32::try_from(at).unwrap_or(u32::MAX);
        let detail = [
            ("step", number.into()),
            ("name", step.into()),
            ("answer", said.readout.answer.into()),
            ("meaning", said.readout.meaning.into()),
        ];
        self.host.with_value(|host| host.tell("emq:step", &detail));
        self.link.write(&[("step", &at.to_string())]);
    }

    /// The scene that the attributes set, and the step that the address names; again whenever they change.
    fn set_scene(self) {
        self.stage();
        self.link.follow(move |values| {
            let step = values.into_iter().find(|(name, _)| name == "step");
            if let Some((_, step)) = step {
                self.open(step_of(Some(&step)));
            }
        });
        Effect::new(move |staged: Option<()>| {
            self.host.with_value(|host| ["delay", "step"].map(|name| host.attribute(name)));
            if staged.is_some() {
                self.stage();
            }
        });
    }

    fn stage(self) {
        let attribute = |name: &str| self.host.with_value(|host| host.element.get_attribute(name));
        let delay = delay_of(attribute("delay").as_deref());
        self.pause();
        self.run(|trip| trip.set_delay(*delay.as_ref().unwrap_or(&DELAY_MS)));
        self.open(step_of(attribute("step").as_deref()));
        if let Err(error) = delay {
            self.problem.set(error.to_string());
        }
    }

    fn open(self, step: Result<usize, AttributeError>) {
        match step {
            Ok(at) => {
                self.pause();
                self.run(|trip| trip.go_to(at));
            }
            Err(error) => self.problem.set(error.to_string()),
        }
    }

    /// Left, right, Home and End go along the walk.
    fn key(self, event: &KeyboardEvent) {
        if event.alt_key() || event.ctrl_key() || event.meta_key() {
            return;
        }
        let at = self.trip.with_untracked(RoundTrip::at);
        let to = match &*event.key() {
            "ArrowLeft" => at.saturating_sub(1),
            "ArrowRight" => (at + 1).min(STEPS.len()),
            "Home" => 0,
            "End" => STEPS.len(),
            _ => return,
        };
        event.prevent_default();
        self.go_to(to);
        let row = event.current_target().and_then(|row| row.dyn_into::<Element>().ok());
        let stop = row.and_then(|row| row.query_selector(&format!("[data-at='{to}']")).ok().flatten());
        if let Some(stop) = stop.and_then(|stop| stop.dyn_into::<HtmlElement>().ok()) {
            // A stop that cannot take the focus leaves it where it is.
            let _ = stop.focus();
        }
    }
}

/// The server's clock: it stands still but for the retry's delay, which goes by before promote.
fn clock(trip: RwSignal<RoundTrip, LocalStorage>) -> impl IntoView {
    let time = move || trip.with(|trip| format!("+{} ms", grouped(trip.elapsed_ms())));
    let due = move || trip.with(|trip| format!("due +{} ms", grouped(trip.delay_ms())));
    let late = move || trip.with(|trip| trip.elapsed_ms() > 0);
    view! {
        <div part="clock" class:late=late>
            <p>"server clock " <b>{time}</b></p>
            <div part="track" aria-hidden="true">
                <span class="passed-by"></span>
                <span class="hand"></span>
            </div>
            <p part="due">{due}</p>
        </div>
    }
}
