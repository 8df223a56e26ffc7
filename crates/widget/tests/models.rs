//! The elements that are a model, without a browser: each slot has its place in the markup, each button is heard, no
//! text of a page's author becomes markup, and no sequence of asks breaks anything.

use echomq_widget::part::Slot;
use echomq_widget::session::bench::Bench;
use echomq_widget::session::desk::Desk;
use echomq_widget::session::kind::{COMPLETE, FENCE, RETRY};
use echomq_widget::session::model::{Detail, Model, Told};
use echomq_widget::session::stages::Stages;
use echomq_widget::session::walk::Walk;

fn none(_: &'static str) -> Option<String> {
    None
}

fn walk(attribute: impl Fn(&'static str) -> Option<String>) -> Walk {
    Walk::new(&attribute, &Stages::default()).unwrap()
}

fn desk(attribute: impl Fn(&'static str) -> Option<String>) -> Desk {
    Desk::new(&attribute).unwrap()
}

fn html(model: &dyn Model, name: &str) -> String {
    let named = |slot| match slot {
        Slot::Html(slot, html) if slot == name => Some(html),
        _ => None,
    };
    model.slots().into_iter().find_map(named).unwrap()
}

fn attribute(model: &dyn Model, name: &str, of: &str) -> String {
    let named = |slot| match slot {
        Slot::Attribute(slot, attribute, value) if slot == name && attribute == of => Some(value),
        _ => None,
    };
    model.slots().into_iter().find_map(named).unwrap()
}

/// What the markup names in an attribute.
fn named<'m>(markup: &'m str, attribute: &str) -> Vec<&'m str> {
    let start = format!("{attribute}=\"");
    markup.split(&*start).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[track_caller]
fn check_markup(model: &mut dyn Model, markup: &str) {
    assert!(!markup.contains("{diagram}") && !markup.contains("style="), "{markup}");
    let places = named(markup, "data-slot");
    for slot in model.slots() {
        let (Slot::Html(name, _) | Slot::Attribute(name, ..) | Slot::Value(name, _)) = slot;
        assert_eq!(places.iter().filter(|place| **place == name).count(), 1, "places of {name}");
    }
    for ask in named(markup, "data-ask") {
        model.ask(ask, "");
        assert_eq!(html(model, "trouble"), "", "after {ask}");
    }
}

#[test]
fn every_slot_has_one_place_and_every_button_is_heard() {
    check_markup(&mut walk(none), &Walk::markup());
    let mut desk = desk(none);
    let markup = desk.markup();
    check_markup(&mut desk, &markup);
}

#[test]
fn a_walk_plays_by_itself_in_silence_and_tells_its_last_step() {
    let mut walk = walk(none);
    assert_eq!((walk.beat_ms(), walk.ask("beat", "")), (None, vec![]));
    let mut steps = walk.ask("play", "");
    while walk.beat_ms().is_some() {
        assert_eq!(
            (html(&walk, "play"), attribute(&walk, "readout", "aria-live")),
            ("Pause".into(), "off".into())
        );
        steps.extend(walk.ask("beat", ""));
    }
    assert_eq!(
        (html(&walk, "play"), attribute(&walk, "readout", "aria-live")),
        ("Play".into(), "polite".into())
    );
    assert_eq!(steps.len(), 4);
    assert!(html(&walk, "readout").contains("Step 4 of 4: claim."), "{}", html(&walk, "readout"));
    assert_eq!(html(&walk, "time"), "+5,000 ms");
    // Again from the start, until the reader goes somewhere.
    walk.ask("play", "");
    assert_eq!(walk.link(), [("step", "0".to_owned())]);
    walk.ask("at2", "");
    assert_eq!((walk.beat_ms(), walk.link()), (None, vec![("step", "2".to_owned())]));
}

fn in_queue(name: &'static str) -> Option<String> {
    (name == "queue").then(|| "mail".to_owned())
}

#[test]
fn elements_of_one_queue_show_one_job() {
    let stages = Stages::default();
    let mut fence = Bench::new(&FENCE, &in_queue, &stages);
    let mut retry = Bench::new(&RETRY, &in_queue, &stages);
    let mut alone = Bench::new(&COMPLETE, &none, &stages);
    let untouched = alone.slots();
    retry.ask("holder", "");
    fence.refresh();
    assert_eq!(attribute(&fence, "map", "data-at"), "schedule");
    assert_eq!(html(&fence, "readout"), html(&retry, "readout"), "what one has done, the other tells");
    assert!(html(&fence, "name").contains("retry"), "{}", html(&fence, "name"));
    // Alone, a press would have staged the job again; here the late holder meets what the other made of it.
    fence.ask("holder", "");
    retry.refresh();
    assert_eq!(
        (attribute(&retry, "map", "data-at"), html(&retry, "keys").contains("removed")),
        ("gone".into(), true)
    );
    fence.ask("back", "");
    fence.ask("back", "");
    retry.refresh();
    assert_eq!(attribute(&retry, "back", "aria-disabled"), "true");
    retry.ask("attempts", "7");
    fence.refresh();
    assert_eq!(html(&fence, "holder"), "presents token 7");
    let mut changed = Bench::new(
        &FENCE,
        &|name| if name == "attempts" { Some("3".into()) } else { in_queue(name) },
        &stages,
    );
    assert_eq!(html(&changed, "holder"), "presents token 7", "the first to come has set the scene");
    changed.start();
    fence.refresh();
    assert_eq!(html(&fence, "holder"), "presents token 3");
    drop(changed);
    alone.refresh();
    assert_eq!(alone.slots().len(), untouched.len());
    assert_eq!(attribute(&alone, "map", "data-at"), "active");
    drop((fence, retry));
    let new = Bench::new(&FENCE, &in_queue, &stages);
    assert_eq!(html(&new, "holder"), "presents token 1", "the stage went with the last that showed it");
}

#[test]
fn a_walk_counts_its_own_steps_among_what_others_do() {
    let stages = Stages::default();
    let mut fence = Bench::new(&FENCE, &in_queue, &stages);
    let mut walk = Walk::new(&in_queue, &stages).unwrap();
    walk.ask("step", "");
    fence.refresh();
    assert_eq!(
        (html(&fence, "holder"), attribute(&fence, "map", "data-at")),
        ("presents token 1".into(), "active".into())
    );
    fence.ask("zombie", "");
    walk.refresh();
    assert!(html(&walk, "readout").contains("EMQSTALE"), "{}", html(&walk, "readout"));
    assert!(!html(&walk, "readout").contains("Step "));
    walk.ask("step", "");
    assert!(html(&walk, "readout").contains("Step 2 of 4: retry."), "{}", html(&walk, "readout"));
    walk.ask("End", "");
    fence.refresh();
    assert_eq!(html(&fence, "holder"), "presents token 2", "the second life");
    walk.ask("at1", "");
    assert!(html(&walk, "readout").contains("Step 1 of 4: claim."), "{}", html(&walk, "readout"));
    walk.ask("restart", "");
    fence.refresh();
    assert_eq!(attribute(&fence, "map", "data-at"), "pending");
}

#[test]
fn a_bad_attribute_is_told_and_the_rest_of_the_scene_stands() {
    let hostile = "<img src=x>";
    let bad = walk(|name| (name == "delay").then(|| hostile.to_owned()));
    assert!(html(&bad, "trouble").contains("&lt;img src=x&gt;"), "{}", html(&bad, "trouble"));
    assert_eq!(html(&bad, "due"), "due +5,000 ms");
    let bad = walk(|name| (name == "step").then(|| "7".to_owned()));
    assert!(html(&bad, "trouble").contains("\"7\"") || html(&bad, "trouble").contains("&quot;7&quot;"));
    let bad = desk(|name| (name == "schedule").then(|| "WX".to_owned()));
    assert_eq!(html(&bad, "trouble"), "step 2 of the schedule is X, and there is no such actor");
    let bad = desk(|name| (name == "mode").then(|| hostile.to_owned()));
    assert_eq!(html(&bad, "trouble"), "A race is finished by split or by evalsha: this names neither.");
    assert!(Desk::new(&|name| (name == "queue").then(|| "a}b".to_owned())).is_err());
    assert!(Walk::new(&|name| (name == "queue").then(|| "a}b".to_owned()), &Stages::default()).is_err());
    let drawn: String = desk(|name| (name == "queue").then(|| hostile.to_owned()))
        .slots()
        .into_iter()
        .map(|slot| match slot {
            Slot::Html(_, html) => html,
            _ => String::new(),
        })
        .collect();
    assert!(!drawn.contains("<img"), "{drawn}");
}

#[test]
fn a_race_tells_its_steps_and_at_the_end_the_verdict() {
    let mut desk = desk(none);
    let told = desk.ask("w", "");
    let text = |text: &str| Detail::Text(text.to_owned());
    assert_eq!(
        told,
        [Told {
            event: "emq:step",
            detail: vec![
                ("mode", text("split")),
                ("schedule", text("W")),
                ("sent", text("HGET 'emq:{race}:job:JOB00000000000' attempts")),
                ("answer", text("\"1\"")),
            ],
        }]
    );
    let told = desk.ask("evalsha:WRN", "");
    let verdict = told.last().unwrap();
    assert_eq!((told.len(), verdict.event), (2, "emq:verdict"));
    assert_eq!(verdict.detail.last(), Some(&("handled", text("once"))));
    assert_eq!(html(&desk, "verdict"), "handled once");
    assert_eq!(desk.ask("choose0", ""), [], "who has finished does nothing");
}

#[test]
fn a_race_opens_what_its_link_says() {
    let mut first = desk(none);
    first.ask("split:WRNW", "");
    let link: Vec<_> = first.link().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let mut second = desk(|name| (name == "mode").then(|| "evalsha".to_owned()));
    second.open(&link);
    assert_eq!(second.link(), first.link());
    assert_eq!(html(&second, "body"), html(&first, "body"));
    assert_eq!(html(&second, "keys"), html(&first, "keys"));
    second.open(&[("nonsense".to_owned(), String::new())]);
    assert_ne!(html(&second, "trouble"), "");
}

#[test]
fn all_interleavings_are_counted_and_can_be_loaded() {
    let mut desk = desk(none);
    assert_eq!(
        (html(&desk, "tables"), attribute(&desk, "orders", "aria-expanded")),
        (String::new(), "false".into())
    );
    desk.ask("orders", "");
    assert_eq!(attribute(&desk, "orders", "aria-expanded"), "true");
    let tables = html(&desk, "tables");
    let asks = named(&tables, "data-ask");
    assert_eq!(asks, ["split:RNWN", "split:WRWNWN", "evalsha:WRN"]);
    for (ask, handled) in asks.into_iter().zip(["handled once", "handled twice", "handled once"]) {
        desk.ask(ask, "");
        assert_eq!(html(&desk, "verdict"), handled, "{ask}");
    }
    assert_eq!(html(&desk, "tables"), tables, "they stay, and with them the focus");
    desk.ask("orders", "");
    assert_eq!(html(&desk, "tables"), "");
}

/// Three asks in any order, of every button and key, and of what is none.
#[test]
fn no_order_of_asks_breaks_a_model() {
    let models: [fn() -> Box<dyn Model>; 2] = [|| Box::new(walk(none)), || Box::new(desk(none))];
    let asks: [&[&str]; 2] = [
        &["play", "beat", "step", "back", "restart", "at3", "ArrowLeft", "End", "nonsense", ""],
        &[
            "choose0",
            "choose1",
            "choose2",
            "at1",
            "at6",
            "back",
            "fork",
            "reset",
            "evalsha",
            "split:WW!",
            "End",
            "",
        ],
    ];
    for (make, asks) in models.into_iter().zip(asks) {
        for first in asks {
            let mut model = make();
            for second in asks {
                for third in asks {
                    for ask in [first, second, third] {
                        model.ask(ask, "");
                    }
                    assert!(!html(&*model, "readout").is_empty(), "{first} {second} {third}");
                }
            }
        }
    }
}
