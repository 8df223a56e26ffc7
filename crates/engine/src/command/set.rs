//! Sets.

use super::args::cardinality_limit;
use super::keys::{READ_1, READ_ALL, READ_COUNTED_1, WRITE_1, WRITE_1_READ_REST, WRITE_1_WRITE_2};
use super::random::choose;
use super::scan::{Page, ScanOptions, read_cursor};
use super::{Answer, Args, Ctx, Flags, Row, data};
use crate::error::CommandError;
use crate::reply::Reply;
use crate::value::{Set, Value};

pub(super) const ROWS: &[Row] = &[
    data("sadd", -3, Flags::GROW_FAST, WRITE_1, sadd),
    data("srem", -3, Flags::WRITE_FAST, WRITE_1, srem),
    data("smove", 4, Flags::WRITE_FAST, WRITE_1_WRITE_2, smove),
    data("scard", 2, Flags::READ_FAST, READ_1, scard),
    data("sismember", 3, Flags::READ_FAST, READ_1, sismember),
    data("smismember", -3, Flags::READ_FAST, READ_1, smismember),
    data("smembers", 2, Flags::READONLY, READ_1, smembers),
    data("spop", -2, Flags::WRITE_FAST, WRITE_1, spop),
    data("srandmember", -2, Flags::READONLY, READ_1, srandmember),
    data("sinter", -2, Flags::READONLY, READ_ALL, |ctx, args| show(ctx, args, intersection)),
    data("sunion", -2, Flags::READONLY, READ_ALL, |ctx, args| show(ctx, args, shown_union)),
    data("sdiff", -2, Flags::READONLY, READ_ALL, |ctx, args| show(ctx, args, difference)),
    data("sinterstore", -3, Flags::GROW, WRITE_1_READ_REST, |ctx, args| store(ctx, args, intersection)),
    data("sunionstore", -3, Flags::GROW, WRITE_1_READ_REST, |ctx, args| store(ctx, args, union)),
    data("sdiffstore", -3, Flags::GROW, WRITE_1_READ_REST, |ctx, args| store(ctx, args, difference)),
    data("sintercard", -3, Flags::READONLY.union(Flags::MOVABLE_KEYS), READ_COUNTED_1, sintercard),
    data("sscan", -3, Flags::READONLY, READ_1, sscan),
];

fn sadd(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let key = args.bytes(1)?;
    let set = ctx.create::<Set>(key)?;
    let added = args.rest(2).iter().filter(|member| set.insert(member)).count();
    ctx.settle(key, added > 0);
    Ok(Reply::integer(added))
}

fn srem(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let key = args.bytes(1)?;
    let Some(set) = ctx.write::<Set>(key)? else { return Ok(Reply::Integer(0)) };
    let removed = args.rest(2).iter().filter(|member| set.remove(member)).count();
    ctx.settle(key, removed > 0);
    Ok(Reply::integer(removed))
}

fn smove(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let (source, destination, member) = (args.bytes(1)?, args.bytes(2)?, args.bytes(3)?);
    let Some(set) = ctx.read::<Set>(source)? else { return Ok(Reply::Integer(0)) };
    ctx.read::<Set>(destination)?;
    if !set.contains(member) {
        return Ok(Reply::Integer(0));
    }
    if source != destination {
        if let Some(set) = ctx.write::<Set>(source)? {
            set.remove(member);
        }
        ctx.settle(source, true);
        let added = ctx.create::<Set>(destination)?.insert(member);
        ctx.settle(destination, added);
    }
    Ok(Reply::Integer(1))
}

fn scard(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    Ok(Reply::integer(ctx.read::<Set>(args.bytes(1)?)?.map_or(0, Set::len)))
}

fn sismember(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let member = args.bytes(2)?;
    let is_member = ctx.read::<Set>(args.bytes(1)?)?.is_some_and(|set| set.contains(member));
    Ok(Reply::Integer(is_member.into()))
}

fn smismember(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let set = ctx.read::<Set>(args.bytes(1)?)?;
    let is_member = |member: &&[u8]| Reply::Integer(set.is_some_and(|set| set.contains(member)).into());
    Ok(Reply::Array(args.rest(2).iter().map(is_member).collect()))
}

fn members(set: &Set) -> Vec<Reply> {
    set.iter().map(Reply::bulk).collect()
}

fn smembers(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let set = ctx.read::<Set>(args.bytes(1)?)?;
    Ok(ctx.set(set.map(members).unwrap_or_default()))
}

fn spop(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let key = args.bytes(1)?;
    let count = match args.len() {
        2 => None,
        3 => Some(args.positive(2)?),
        _ => return Err(CommandError::Syntax),
    };
    let len = ctx.read::<Set>(key)?.map_or(0, Set::len);
    let wanted = i64::try_from(count.unwrap_or(1)).unwrap_or(i64::MAX);
    let chosen = choose(ctx.keyspace, len, wanted)?;
    let mut taken = Vec::new();
    if let Some(set) = ctx.write::<Set>(key)? {
        taken.extend(chosen.into_iter().filter_map(|at| set.at(at).map(|member| member.into_owned())));
        for member in &taken {
            set.remove(member);
        }
        ctx.settle(key, !taken.is_empty());
    }
    let mut taken = taken.into_iter().map(Reply::Bulk);
    Ok(match count {
        Some(_) => ctx.set(taken.collect()),
        None => taken.next().unwrap_or(Reply::Nil),
    })
}

fn srandmember(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let key = args.bytes(1)?;
    let count = match args.len() {
        2 => None,
        3 => Some(args.signed(2)?),
        _ => return Err(CommandError::Syntax),
    };
    let len = ctx.read::<Set>(key)?.map_or(0, Set::len);
    let chosen = choose(ctx.keyspace, len, count.unwrap_or(1))?;
    let set = ctx.read::<Set>(key)?;
    let mut members = chosen.into_iter().filter_map(|at| set?.at(at)).map(Reply::bulk);
    Ok(match count {
        Some(_) => Reply::Array(members.collect()),
        None => members.next().unwrap_or(Reply::Nil),
    })
}

/// Makes one set of several; `None` stands for a key that is not there.
type Combine = fn(&[Option<&Set>]) -> Set;

fn sets<'a>(ctx: &'a Ctx<'_>, keys: &[&[u8]]) -> Result<Vec<Option<&'a Set>>, CommandError> {
    let sets: Result<Vec<Option<&Set>>, CommandError> = keys.iter().map(|key| ctx.read::<Set>(key)).collect();
    let sets = sets?;
    ctx.count_steps(sets.iter().flatten().map(|set| set.len()).sum());
    Ok(sets)
}

fn show(ctx: &mut Ctx<'_>, args: &Args<'_>, combine: Combine) -> Answer {
    let result = combine(&sets(ctx, args.rest(1))?);
    Ok(ctx.set(members(&result)))
}

fn store(ctx: &mut Ctx<'_>, args: &Args<'_>, combine: Combine) -> Answer {
    let key = args.bytes(1)?;
    let result = combine(&sets(ctx, args.rest(2))?);
    let len = result.len();
    if len == 0 {
        ctx.remove(key);
    } else {
        ctx.put(key, Value::Set(result));
    }
    Ok(Reply::integer(len))
}

fn collect<'a>(members: impl Iterator<Item = std::borrow::Cow<'a, [u8]>>) -> Set {
    let mut result = Set::default();
    members.for_each(|member| {
        result.insert(&member);
    });
    result
}

/// The members of the smallest set that are in all the others, in the smallest one's order.
fn common<'a>(sets: &[Option<&'a Set>]) -> impl Iterator<Item = std::borrow::Cow<'a, [u8]>> {
    let mut all: Vec<&Set> =
        if sets.iter().all(Option::is_some) { sets.iter().copied().flatten().collect() } else { Vec::new() };
    all.sort_by_key(|set| set.len());
    let smallest = all.first().copied();
    let others = all.split_off(all.len().min(1));
    let members = smallest.into_iter().flat_map(Set::iter);
    members.filter(move |member| others.iter().all(|set| set.contains(member)))
}

fn intersection(sets: &[Option<&Set>]) -> Set {
    collect(common(sets))
}

fn union(sets: &[Option<&Set>]) -> Set {
    collect(sets.iter().copied().flatten().flat_map(Set::iter))
}

/// A union that is not stored is a set of integers only if all are: one other makes a table from the start, in the
/// order of the members.
fn shown_union(sets: &[Option<&Set>]) -> Set {
    let sets = sets.iter().copied().flatten();
    let of_integers = sets.clone().all(|set| set.encoding() == "intset");
    let mut result = if of_integers { Set::default() } else { Set::of_texts() };
    sets.flat_map(Set::iter).for_each(|member| {
        result.insert(&member);
    });
    result
}

fn difference(sets: &[Option<&Set>]) -> Set {
    let (first, others) = match sets.split_first() {
        Some((Some(first), others)) => (*first, others),
        _ => return Set::default(),
    };
    let excluded = |member: &[u8]| others.iter().flatten().any(|set| set.contains(member));
    collect(first.iter().filter(|member| !excluded(member)))
}

fn sintercard(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let count = args.integer(1).ok().and_then(|n| usize::try_from(n).ok()).filter(|&n| n > 0);
    let count = count.ok_or(CommandError::NUMKEYS_POSITIVE)?;
    let keys = args.slice(2, count).ok_or(CommandError::NUMKEYS_TOO_MANY)?;
    let limit = cardinality_limit(args, 2 + count)?;
    Ok(Reply::integer(common(&sets(ctx, keys)?).take(limit).count()))
}

fn sscan(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    read_cursor(args, 2)?;
    let Some(set) = ctx.read::<Set>(args.bytes(1)?)? else { return Ok(Page::end()) };
    // No word of its own: an option that nobody can send.
    let options = ScanOptions::read(args, 2, "\0")?;
    let whole = set.encoding() != "hashtable";
    let page = options.page(set.iter(), |member| member, whole);
    let items = page.items.into_iter().filter(|member| options.admits(member)).map(Reply::bulk);
    Ok(Page::reply(page.cursor, items.collect()))
}
