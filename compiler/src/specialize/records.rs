//! Records: pairs under another name, and power series, which are pairs, too.
//!
//! Data of many kinds of records are taken apart in many places. What a place says of a record of another kind differs
//! in the name of that kind only, which run time writes: texts for all would be as many as pairs of kinds.

use super::Specializer;
use super::dispatch::Among;
use super::emit::{Emitted, Emitter, Val};
use super::errors::failure::HOLE;
use crate::core::errors::{Found, Kind, RuntimeError};
use crate::core::ir::{Part, RecordId};
use crate::core::prim::Prim;
use crate::shape::lattice::{Class, Head, Shape};

/// Records of so many kinds have a text each.
const MAX_KINDS: usize = 8;

impl Specializer<'_> {
    /// What has one of the heads that are `taken` under the other name: a pair as a power series or a record, or the
    /// other way round. The leaves are the same.
    pub(super) fn rename(
        &mut self,
        e: &mut Emitter,
        value: &Val,
        (to, taken): (Head, impl Fn(Head) -> bool),
        result: Shape,
        error: impl Fn(&Self, Found) -> RuntimeError,
    ) -> Emitted<Val> {
        let value = self.unfold_zeros(e, value)?;
        let among = self.among_few_kinds(value.shape, &taken);
        self.dispatch_among(e, &value, &among, result, |this, e, parts| {
            let head = parts.alternative.head;
            if !taken(head) {
                if among.others.is_some() && matches!(head, Head::Record(_)) {
                    let error = error(this, Kind::Record(HOLE.into()).into());
                    return this.fail_with_kind(e, &error, &value);
                }
                let error = error(this, this.found(head));
                return this.fail(e, &error);
            }
            let shape = this.flow.shapes.make(to, &parts.alternative.children);
            let leaves = parts.children.into_iter().flat_map(|child| child.leaves).collect();
            let renamed = this.build(e, shape, 0, leaves);
            this.convert(e, &renamed, result)
        })
    }

    /// The alternatives of a shape, where records that are not taken are one if they are of many kinds.
    fn among_few_kinds(&mut self, shape: Shape, taken: impl Fn(Head) -> bool) -> Among {
        let alternatives = self.flow.shapes.alternatives(shape);
        let fails = |tag: &usize| {
            let head = alternatives[*tag].head;
            matches!(head, Head::Record(_)) && !taken(head)
        };
        let all: Vec<usize> = (0..alternatives.len()).collect();
        let failing: Vec<usize> = all.iter().copied().filter(fails).collect();
        // Alternatives that a box holds in several ways have ways of their own.
        if failing.len() <= MAX_KINDS || self.is_boxed(shape) && self.cases(shape).iter().any(|c| c.choice.is_some()) {
            return Among { tags: all, others: None };
        }
        let tags = all.into_iter().filter(|tag| !fails(tag) || *tag == failing[0]).collect();
        Among { tags, others: Some(failing[0]) }
    }

    /// The same, where nothing stays nothing, as in the sums that backpropagators are handed.
    fn rename_in_sums(
        &mut self,
        e: &mut Emitter,
        value: &Val,
        (to, taken): (Head, impl Fn(Head) -> bool),
        result: Shape,
        error: impl Fn(&Self, Found) -> RuntimeError,
    ) -> Emitted<Val> {
        if self.tag_of(value.shape, Class::Nothing).is_none() {
            return self.rename(e, value, (to, taken), result, error);
        }
        self.dispatch(e, value, result, |this, e, parts| {
            let is_nothing = parts.alternative.head == Head::Nothing;
            let value = this.single(e, parts);
            match is_nothing {
                true => this.convert(e, &value, result),
                false => this.rename(e, &value, (to, &taken), result, &error),
            }
        })
    }

    /// The record of the kind of another that is made of a pair.
    pub(super) fn record(&mut self, e: &mut Emitter, of: &Val, pair: &Val, result: Shape) -> Emitted<Val> {
        let of = self.unfold_zeros(e, of)?;
        self.dispatch(e, &of, result, |this, e, parts| {
            let to = parts.alternative.head;
            if !matches!(to, Head::Record(_)) {
                let found = this.found(to);
                return this.fail(e, &RuntimeError::Sensitivity { part: Part::Never, record: None, found });
            }
            this.rename_in_sums(e, pair, (to, |head| matches!(head, Head::Pair(_))), result, |_, found| {
                RuntimeError::NotAPair { prim: Prim::Record, found }
            })
        })
    }

    /// The pair that a record, of that kind, is made of.
    pub(super) fn record_parts(
        &mut self,
        e: &mut Emitter,
        kind: Option<RecordId>,
        record: &Val,
        result: Shape,
        error: impl Fn(&Self, Found) -> RuntimeError,
    ) -> Emitted<Val> {
        let taken = |head: Head| matches!(head, Head::Record(of) if kind.is_none_or(|kind| of == kind));
        self.rename_in_sums(e, record, (Head::Pair(None), taken), result, error)
    }
}
