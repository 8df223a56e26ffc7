//! An element that presents tokens, without its view: what a reader asks of it, and what stands in the slots of its
//! markup. `<emq-fence>`, `<emq-complete>` and `<emq-retry>` are three of a kind.

use echomq_core::snippet::Language;
use echomq_core::{EngineWire, Script};

use super::present::{Present, Verb};
use super::scene::{ATTEMPTS, BadAttribute, Scene};
use super::shown::Shown;
use super::staged::Readout;
use crate::part::{self, Slot, escape};

const BAR: &str = r#"<div part="buttons" role="group" aria-label="Go back">
<button type="button" part="button" data-ask="back" data-slot="back">Step back</button>
<button type="button" part="button" data-ask="reset">Reset</button>
</div>
"#;
const SCENE: &str = r#"{diagram}<div part="controls">{controls}</div>{readout}"#;

/// What one of the elements is.
pub struct Kind {
    /// Its name in the page's address and, unless an attribute names another, of its queue.
    pub key: &'static str,
    pub title: &'static str,
    /// The markup of what a reader chooses from.
    pub controls: &'static str,
    pub script: fn() -> &'static Script,
    pub defaults: fn() -> Scene,
    pub verb: fn(&Scene) -> Verb,
    /// The readout before the first press, from the row's attempts.
    pub initial: fn(&Scene, &str) -> String,
}

pub struct Bench {
    kind: &'static Kind,
    /// The scene that the attributes set, or why they set none.
    base: Result<Scene, BadAttribute>,
    /// The scene as the reader has changed it.
    scene: Scene,
    session: Option<Present>,
    shown: Shown,
    /// What kept a call from its answer; empty when nothing did.
    trouble: String,
    typed: String,
    language: Language,
    /// Counts the acts: an answer that is the same twice is told twice.
    acts: u32,
}

/// What the page is to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// A token was presented.
    Verdict { token: String, readout: Readout },
    /// The reader went back.
    Step,
}

impl Bench {
    pub fn new(kind: &'static Kind, attribute: impl Fn(&'static str) -> Option<String>) -> Bench {
        let base = Scene::read(attribute, &(kind.defaults)());
        let scene = base.clone().unwrap_or_else(|_| (kind.defaults)());
        let mut bench = Bench {
            kind,
            base,
            scene,
            session: None,
            shown: Shown::default(),
            trouble: String::new(),
            typed: String::new(),
            language: Language::Shell,
            acts: 0,
        };
        bench.stage();
        bench
    }

    /// The reader presses what is named `what`, or changes the field of that name to `value`.
    pub fn ask(&mut self, what: &str, value: &str) -> Option<Told> {
        match what {
            "holder" => self.press(&self.scene.attempts.to_string()),
            "zombie" => self.press(&self.scene.token.clone()),
            "any" => self.press(&self.typed.clone()),
            "back" => self.step(|session| session.staged_mut().back().map(drop)),
            "reset" => self.step(|session| session.staged_mut().reset()),
            _ => {
                self.change(what, value);
                None
            }
        }
    }

    /// Opens what a link says: a scene, and the token presented in it.
    pub fn open(&mut self, values: &[(String, String)]) -> Option<Told> {
        match self.base.as_ref().ok()?.with(values) {
            Ok(scene) if scene != self.scene => {
                self.scene = scene;
                self.stage();
            }
            Ok(_) => {}
            // A link that somebody changed may name a scene that cannot be set.
            Err(bad) => {
                self.trouble = bad.to_string();
                return None;
            }
        }
        let token = values.iter().find(|(name, _)| name == "token");
        token.and_then(|(_, token)| self.press(token))
    }

    /// What a link to this must say beside the token.
    pub fn changes(&self) -> Vec<(&'static str, String)> {
        self.base.as_ref().map_or_else(|_| Vec::new(), |base| self.scene.changes(base))
    }

    /// The attributes set the same scene here and there.
    pub fn has_the_scene_of(&self, other: &Bench) -> bool {
        self.base == other.base
    }

    pub fn kind(&self) -> &'static Kind {
        self.kind
    }

    pub fn steps(&self) -> usize {
        self.shown.steps
    }

    /// The markup whose slots [`Bench::slots`] fills.
    pub fn markup(kind: &Kind) -> String {
        part::frame(kind.title, BAR, &SCENE.replace("{controls}", kind.controls))
    }

    pub fn slots(&self) -> Vec<Slot> {
        let Bench { kind, scene, shown, .. } = self;
        let html = Slot::Html;
        let initial = (kind.initial)(scene, &shown.attempts);
        let state = if self.base.is_ok() { "ready" } else { "broken" };
        let mut slots = part::drawn(shown, &initial, self.language, self.acts);
        slots.extend([
            Slot::Attribute("frame", "data-state", state.to_owned()),
            html("trouble", escape(&self.trouble)),
            Slot::Attribute("back", "aria-disabled", (shown.steps == 0).to_string()),
            html("holder", format!("presents token {}", scene.attempts)),
            html("zombie", format!("presents token {}", escape(&scene.token))),
            Slot::Value("attempts", scene.attempts.to_string()),
            Slot::Value("max", scene.max.clone()),
            Slot::Value("delay", scene.delay.clone()),
            Slot::Value("error", scene.error.clone()),
        ]);
        slots
    }

    fn press(&mut self, token: &str) -> Option<Told> {
        let verb = (self.kind.verb)(&self.scene);
        let readout = self.with(|session| {
            session.set_verb(verb);
            session.press(token)
        })?;
        self.show();
        Some(Told::Verdict { token: token.to_owned(), readout })
    }

    fn step<E: ToString>(&mut self, step: impl FnOnce(&mut Present) -> Result<(), E>) -> Option<Told> {
        self.with(step)?;
        self.show();
        Some(Told::Step)
    }

    fn change(&mut self, field: &str, value: &str) {
        match field {
            "typed" => self.typed = value.to_owned(),
            "max" => self.scene.max = value.to_owned(),
            "delay" => self.scene.delay = value.to_owned(),
            "error" => self.scene.error = value.to_owned(),
            "language" => self.language = part::language_of(value),
            "attempts" => {
                // A number that is half typed sets no scene.
                if let Some(attempts) = value.parse().ok().filter(|number| ATTEMPTS.contains(number)) {
                    self.scene.attempts = attempts;
                    self.stage();
                }
            }
            _ => {}
        }
    }

    /// Sets the stage as the scene says.
    fn stage(&mut self) {
        self.session = None;
        if let Err(bad) = &self.base {
            self.trouble = bad.to_string();
            return;
        }
        let wire = Box::new(EngineWire::default().traced());
        match Present::new(wire, &self.scene.queue, self.scene.attempts, (self.kind.verb)(&self.scene)) {
            Ok(session) => {
                self.session = Some(session);
                self.show();
            }
            Err(error) => self.trouble = error.to_string(),
        }
    }

    fn show(&mut self) {
        let script = (self.kind.script)();
        if let Some(shown) = self.with(|session| Shown::new(session.staged_mut(), script)) {
            self.shown = shown;
            self.acts = self.acts.wrapping_add(1);
        }
    }

    /// Does something with the session; a wire that brings no reply is told to the reader.
    fn with<T, E: ToString>(&mut self, act: impl FnOnce(&mut Present) -> Result<T, E>) -> Option<T> {
        let done = act(self.session.as_mut()?);
        self.trouble = done.as_ref().err().map(ToString::to_string).unwrap_or_default();
        done.ok()
    }
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kind").field("key", &self.key).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Bench {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bench")
            .field("scene", &self.scene)
            .field("steps", &self.shown.steps)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::{Bench, Told};
    use crate::part::Slot;
    use crate::session::kind::ALL;

    fn bench(kind: &'static super::Kind) -> Bench {
        Bench::new(kind, |_| None)
    }

    fn html(bench: &Bench, name: &str) -> String {
        let named = |slot| match slot {
            Slot::Html(slot, html) if slot == name => Some(html),
            _ => None,
        };
        bench.slots().into_iter().find_map(named).unwrap()
    }

    #[test]
    fn markup_has_the_slots_and_the_asks_that_it_needs() {
        for kind in ALL {
            let markup = Bench::markup(kind);
            assert!(!markup.contains('{') && !markup.contains("style="), "{markup}");
            for slot in bench(kind).slots() {
                let (name, optional) = match &slot {
                    Slot::Html(name, _) | Slot::Attribute(name, ..) => (name, false),
                    Slot::Value(name, _) => (name, true),
                };
                // The frame is the view's own.
                let there = *name == "frame" || markup.contains(&format!("data-slot=\"{name}\""));
                assert!(there || optional, "{} has no slot {name}", kind.key);
            }
            for ask in ["holder", "zombie", "back", "reset"] {
                assert!(markup.contains(&format!("data-ask=\"{ask}\"")), "{} has no {ask}", kind.key);
            }
        }
    }

    #[test]
    fn each_press_is_told_and_can_be_taken_back() {
        for kind in ALL {
            let mut bench = bench(kind);
            let Some(Told::Verdict { token, readout }) = bench.ask("zombie", "") else { panic!("{kind:?}") };
            assert_eq!(token, (kind.defaults)().token);
            assert!(readout.answer.starts_with("(error) EMQSTALE "), "{readout:?}");
            let first = html(&bench, "readout");
            bench.ask("back", "");
            assert!(html(&bench, "readout").contains("initial"));
            bench.ask("zombie", "");
            assert_ne!(html(&bench, "readout"), first, "the same answer is told again");
            bench.ask("holder", "");
            assert!(html(&bench, "keys").contains("removed"));
            assert_eq!(bench.ask("reset", ""), Some(Told::Step));
            assert!(!html(&bench, "keys").contains("removed"));
            assert_eq!(bench.steps(), 0);
        }
    }

    #[test]
    fn a_bad_attribute_is_told_and_nothing_can_be_pressed() {
        let mut bench = Bench::new(ALL[0], |name| (name == "attempts").then(|| "two".to_owned()));
        assert_eq!(html(&bench, "trouble"), "attempts=&quot;two&quot; is not a whole number from 1 to 99.");
        for ask in ["holder", "zombie", "any", "back", "reset", "nonsense"] {
            assert_eq!(bench.ask(ask, "1"), None);
        }
        assert_eq!(bench.open(&[("token".to_owned(), "1".to_owned())]), None);
        let bench = Bench::new(ALL[0], |name| (name == "queue").then(|| "a}b".to_owned()));
        assert!(!html(&bench, "trouble").is_empty());
    }

    #[test]
    fn a_link_opens_the_scene_with_its_token() {
        let mut first = bench(ALL[2]);
        first.ask("attempts", "2");
        first.ask("attempts", "");
        first.ask("error", "<no>");
        first.ask("holder", "");
        let mut link: Vec<_> =
            first.changes().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        link.push(("token".to_owned(), "2".to_owned()));
        let mut second = bench(ALL[2]);
        second.open(&link);
        assert_eq!(html(&second, "keys"), html(&first, "keys"));
        assert!(html(&second, "keys").contains("&lt;no&gt;"));
    }
}
