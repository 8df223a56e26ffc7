//! The engine's thread: time, requests, replies.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant, SystemTime};

use echomq_engine::{Busy, Clock, Config, Engine, Limits, Version};

use super::connection::Event;
use super::desk::Desk;

/// How often the engine is woken when nobody asks anything.
const TICK: Duration = Duration::from_millis(100);

/// The limits of a server: those of the protocol, and a script may run as long as it likes.
const LIMITS: Limits = Limits { script_steps: u64::MAX, lua_memory_bytes: 1 << 30, bulk_bytes: 512 << 20 };

/// Serves until somebody wants it to end.
pub fn run(version: Version, events: Receiver<Event>) {
    let mut engine = Engine::new(Config { version, limits: LIMITS, clock: now() });
    let desk = Rc::new(RefCell::new(Desk::new(events)));
    let started = Rc::new(Cell::new(Instant::now()));
    let watched = (Rc::clone(&desk), Rc::clone(&started));
    let watchdog = move |busy: &mut Busy<'_>| look(busy, &mut watched.0.borrow_mut(), watched.1.get());
    // Without memory for Lua each script fails by itself.
    let _ = engine.set_watchdog(watchdog);
    while !desk.borrow().stopped {
        desk.borrow_mut().wait(until_timeout(&engine), &mut engine);
        engine.set_clock(now());
        engine.wake();
        loop {
            let request = desk.borrow_mut().next(&engine);
            let Some((id, request)) = request else { break };
            let argv: Vec<&[u8]> = request.iter().map(Vec::as_slice).collect();
            engine.set_clock(now());
            started.set(Instant::now());
            engine.submit(id, &argv);
            desk.borrow_mut().deliver(&mut engine);
        }
        desk.borrow_mut().deliver(&mut engine);
    }
}

/// What others are answered while a script runs for too long.
fn look(busy: &mut Busy<'_>, desk: &mut Desk, started: Instant) {
    let threshold = Duration::from_millis(busy.threshold_ms());
    let spent = started.elapsed();
    busy.set_spent(spent);
    if threshold.is_zero() || spent < threshold {
        return;
    }
    desk.take_all(busy);
    while !busy.is_killed() {
        let Some((id, request)) = desk.next(busy) else { break };
        let argv: Vec<&[u8]> = request.iter().map(Vec::as_slice).collect();
        busy.submit(id, &argv);
    }
    desk.deliver(busy);
    if desk.stopped {
        busy.abandon();
    }
}

fn now() -> Clock {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Clock::from_unix_us(u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
}

fn until_timeout(engine: &Engine) -> Duration {
    let left_us = engine.next_timeout().map(|at| at.unix_us().saturating_sub(now().unix_us()));
    left_us.map_or(TICK, |left_us| Duration::from_micros(left_us).min(TICK))
}
