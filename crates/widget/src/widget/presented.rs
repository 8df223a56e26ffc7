//! What the elements share that present a token to the fence: `<emq-fence>`, `<emq-complete>` and `<emq-retry>`.

use echomq_core::{EngineWire, Script};
use leptos::ev::SubmitEvent;
use leptos::prelude::*;

use super::link::Link;
use crate::element::Host;
use crate::part::{self, live, word};
use crate::session::present::{Present, Verb};
use crate::session::scene::Scene;
use crate::session::shown::Shown;

/// What one of the elements is.
pub struct Kind {
    /// Its name in the page's address and, unless an attribute names another, of its queue.
    pub key: &'static str,
    pub title: &'static str,
    pub script: fn() -> &'static Script,
    pub defaults: fn() -> Scene,
    pub verb: fn(&Scene) -> Verb,
    /// The readout before the first press, from the row's attempts.
    pub initial: fn(Bench, &str) -> String,
    /// What the reader chooses from.
    pub controls: fn(Bench) -> Vec<AnyView>,
}

/// The session of one element, as its controls reach it. Copies are the same session.
#[derive(Clone, Copy)]
pub struct Bench {
    pub kind: &'static Kind,
    pub scene: RwSignal<Scene>,
    /// The scene that the attributes set.
    base: StoredValue<Scene>,
    pub shown: RwSignal<Shown>,
    host: StoredValue<Host, LocalStorage>,
    link: Link,
    session: StoredValue<Option<Present>, LocalStorage>,
    /// What kept a call from its answer; empty when nothing did.
    trouble: RwSignal<String>,
}

pub fn view(host: Host, kind: &'static Kind) -> AnyView {
    let host = StoredValue::new_local(host);
    let scene = Memo::new(move |_| {
        host.with_value(|host| Scene::read(|name| host.attribute(name), &(kind.defaults)()))
    });
    let opened = StoredValue::new(false);
    // A page that changes an attribute sets a new scene.
    let bench = move || match scene.get() {
        Ok(scene) => Bench::new(host, kind, scene, opened).view(),
        Err(bad) => part::problem(&bad.to_string()),
    };
    bench.into_any()
}

impl Bench {
    fn new(
        host: StoredValue<Host, LocalStorage>,
        kind: &'static Kind,
        scene: Scene,
        opened: StoredValue<bool>,
    ) -> Bench {
        let bench = Bench {
            kind,
            base: StoredValue::new(scene.clone()),
            scene: RwSignal::new(scene),
            shown: RwSignal::default(),
            host,
            link: Link::new(host, kind.key),
            session: StoredValue::new_local(None),
            trouble: RwSignal::default(),
        };
        bench.stage();
        // The address is opened once, and when it changes: a scene that the page sets later starts untouched.
        let asleep = StoredValue::new(opened.get_value());
        bench.link.follow(move |values| {
            if !asleep.get_value() {
                bench.open(&values);
            }
        });
        asleep.set_value(false);
        opened.set_value(true);
        bench
    }

    /// Opens what a link says: a scene, and the token presented in it.
    fn open(self, values: &[(String, String)]) {
        match self.base.with_value(|base| base.with(values)) {
            Ok(scene) if self.scene.with_untracked(|now| *now != scene) => {
                self.scene.set(scene);
                self.stage();
            }
            Ok(_) => {}
            // A link that somebody changed may name a scene that cannot be set.
            Err(bad) => return self.trouble.set(bad.to_string()),
        }
        if let Some((_, token)) = values.iter().find(|(name, _)| name == "token") {
            self.press(token);
        }
    }

    /// Sets the stage as the scene says.
    pub fn stage(self) {
        let scene = self.scene.get_untracked();
        let wire = Box::new(EngineWire::default().traced());
        match Present::new(wire, &scene.queue, scene.attempts, (self.kind.verb)(&scene)) {
            Ok(session) => {
                self.session.set_value(Some(session));
                self.show();
            }
            Err(error) => {
                self.session.set_value(None);
                self.trouble.set(error.to_string());
            }
        }
    }

    /// Presents a token; the page is told, and its address where the element has `link`.
    pub fn press(self, token: &str) {
        let verb = (self.kind.verb)(&self.scene.get_untracked());
        let pressed = self.with(|session| {
            session.set_verb(verb);
            session.press(token)
        });
        let Some(readout) = pressed else { return };
        self.show();
        let detail = [
            ("verb", (self.kind.script)().name().into()),
            ("token", token.into()),
            ("answer", (&*readout.answer).into()),
            ("meaning", (&*readout.meaning).into()),
        ];
        self.host.with_value(|host| host.tell("emq:verdict", &detail));
        self.tell_step();
        let changes = self.base.with_value(|base| self.scene.with_untracked(|scene| scene.changes(base)));
        let changes = changes.iter().map(|(name, value)| (*name, value.as_str()));
        self.link.write(&std::iter::once(("token", token)).chain(changes).collect::<Vec<_>>());
    }

    fn back(self) {
        if self.with(|session| session.staged_mut().back()).is_some() {
            self.show();
            self.tell_step();
        }
    }

    fn reset(self) {
        if self.with(|session| session.staged_mut().reset()).is_some() {
            self.show();
            self.tell_step();
        }
    }

    fn show(self) {
        if let Some(shown) = self.with(|session| Shown::new(session.staged_mut(), (self.kind.script)())) {
            self.shown.set(shown);
        }
    }

    /// Does something with the session; a wire that brings no reply is told to the reader.
    fn with<T, E: ToString>(self, act: impl FnOnce(&mut Present) -> Result<T, E>) -> Option<T> {
        match self.session.try_update_value(|session| session.as_mut().map(act))?? {
            Ok(done) => {
                self.trouble.set(String::new());
                Some(done)
            }
            Err(error) => {
                self.trouble.set(error.to_string());
                None
            }
        }
    }

    fn tell_step(self) {
        let step = u32::try_from(self.shown.with_untracked(|shown| shown.steps)).unwrap_or(u32::MAX);
        self.host.with_value(|host| host.tell("emq:step", &[("step", step.into())]));
    }

    fn view(self) -> AnyView {
        let (kind, trouble) = (self.kind, self.trouble);
        let shown: Signal<Shown> = self.shown.into();
        let at_start = Signal::derive(move || shown.with(|shown| shown.steps == 0));
        let never = Signal::stored(false);
        let back = Callback::new(move |()| self.back());
        let reset = Callback::new(move |()| self.reset());
        let bar = part::group(
            "Go back",
            vec![
                part::press("button", "", word("Step back"), at_start, back),
                part::press("button", "", word("Reset"), never, reset),
            ],
        );
        let initial = live(move || shown.with(|shown| (kind.initial)(self, &shown.attempts)));
        view! {
            <div part="widget" role="group" aria-label=kind.title>
                <div part="bar">
                    <p part="title">{kind.title}</p>
                    {bar}
                </div>
                <div part="scene">
                    {part::diagram_view(shown)}
                    <div part="controls">{(kind.controls)(self)}</div>
                    <p part="problem" role="alert">{trouble}</p>
                    {part::readout_view(shown, initial, never)}
                </div>
                <div part="inside">{part::script_view(shown)} {part::keys_view(shown)}</div>
                {part::calls_view(shown)}
            </div>
        }
        .into_any()
    }
}

/// A button that presents a token.
pub fn caller(bench: Bench, who: &'static str, token: Signal<String>) -> AnyView {
    let label = live(move || token.with(|token| format!("presents token {token}")));
    let press = Callback::new(move |()| bench.press(&token.get_untracked()));
    part::press("caller", who, label, Signal::stored(false), press)
}

/// A field for any token.
pub fn any_token(bench: Bench) -> AnyView {
    let token = RwSignal::new(String::new());
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        bench.press(&token.get_untracked());
    };
    view! {
        <form part="field" on:submit=submit>
            {field("any token", "text", token.into(), Callback::new(move |text| token.set(text)))}
            <button type="submit" part="button">"Present"</button>
        </form>
    }
    .into_any()
}

/// A field with its label above it. `kind` is an input's type.
pub fn field(
    label: &'static str,
    kind: &'static str,
    value: Signal<String>,
    set: Callback<String>,
) -> AnyView {
    view! {
        <label part="label">
            <span>{label}</span>
            <input
                part="input"
                type=kind
                autocomplete="off"
                spellcheck="false"
                prop:value=value
                on:input=move |event| set.run(event_target_value(&event))
            />
        </label>
    }
    .into_any()
}

/// The token of whoever holds the lease: the row's attempts.
pub fn holder(bench: Bench) -> Signal<String> {
    live(move || bench.scene.with(|scene| scene.attempts.to_string()))
}

/// The token of whoever does not.
pub fn zombie(bench: Bench) -> Signal<String> {
    live(move || bench.scene.with(|scene| scene.token.clone()))
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kind").field("key", &self.key).finish_non_exhaustive()
    }
}
