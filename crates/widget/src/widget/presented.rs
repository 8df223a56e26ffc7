//! The view of the elements that present a token to the fence: `<emq-fence>`, `<emq-complete>` and `<emq-retry>`.

use leptos::prelude::*;

use super::link::Link;
use crate::element::Host;
use crate::part;
use crate::session::bench::{Bench, Kind, Told};

pub fn view(host: Host, kind: &'static Kind) -> AnyView {
    let host = StoredValue::new_local(host);
    let link = Link::new(host, kind.key);
    let attribute = move |name: &'static str| host.with_value(|host| host.attribute(name));
    let bench = RwSignal::new_local(untrack(|| Bench::new(kind, attribute)));
    link.follow(move |values| {
        let told = bench.try_update(|bench| bench.open(&values)).flatten();
        tell(host, bench, told);
    });
    // A page that changes an attribute sets a new scene.
    Effect::new(move || {
        let new = Bench::new(kind, attribute);
        if bench.with_untracked(|bench| !bench.has_the_scene_of(&new)) {
            bench.set(new);
        }
    });
    let ask = move |what: &str, value: &str| {
        let told = bench.try_update(|bench| bench.ask(what, value)).flatten();
        if let Some(Told::Verdict { token, .. }) = &told {
            let changes = bench.with_untracked(Bench::changes);
            let changes = changes.iter().map(|(name, value)| (*name, value.as_str()));
            link.write(&std::iter::once(("token", token.as_str())).chain(changes).collect::<Vec<_>>());
        }
        tell(host, bench, told);
    };
    let slots = move || bench.with(Bench::slots);
    part::panel(kind.title, Bench::markup(kind), Box::new(slots), Box::new(ask))
}

/// Tells the page.
fn tell(host: StoredValue<Host, LocalStorage>, bench: RwSignal<Bench, LocalStorage>, told: Option<Told>) {
    let Some(told) = told else { return };
    let (kind, steps) = bench.with_untracked(|bench| (bench.kind(), bench.steps()));
    host.with_value(|host| {
        if let Told::Verdict { token, readout } = told {
            let verb = (kind.script)().name();
            let (answer, meaning) = (readout.answer.into(), readout.meaning.into());
            let detail =
                [("verb", verb.into()), ("token", token.into()), ("answer", answer), ("meaning", meaning)];
            host.tell("emq:verdict", &detail);
        }
        host.tell("emq:step", &[("step", u32::try_from(steps).unwrap_or(u32::MAX).into())]);
    });
}
