//! Variants to a fixed point: which call uses which variant, when to widen, when a result is final.
//!
//! Variants are interpreted depth first. The first one entered of a strongly connected component of calls repeats until
//! no result in the component changes; then all of them are final and are never looked at again. A variant further in
//! depends on a preliminary result of a frame outside of it ([`Frame::low`]) and waits for that frame.

use super::errors::NO_ERROR;
use super::{Abort, Analyzer, Facts, Frame, General, Key, Shared, Variant, VariantId};
use crate::ad::plain_without_sums;
use crate::core::ir::LambdaId;
use crate::core::prim::Prim;
use crate::shape::algebra::Transform;
use crate::shape::lattice::{Code, Head, Shape, Shapes};
use crate::shape::widen::PATIENCE;
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// Where a component of calls has grown so often, all of its variants that call themselves are widened; until then,
/// only its head is (as Bourdoncle chooses the points of widening, "Efficient chaotic iteration strategies with
/// widenings", 1993). What one of them wraps around itself the others contain: to fold it in each of them would unroll
/// it in each.
const HEADS: usize = 3;

/// How many variants of one λ that differ in known numbers only there may be for each that is not called by another.
const ROUNDS: usize = 4;

/// Known data that are walked as far as run time decides count as known for so many steps.
const WALK: usize = 16;

impl Analyzer<'_> {
    /// The variant that a call uses, and the shape of its result as far as it is known.
    pub(super) fn call(&mut self, mut key: Key) -> Result<(VariantId, Shape), Abort> {
        loop {
            self.check_work()?;
            key = self.redirected(key);
            self.check_new(&key)?;
            if let Some(id) = self.memo.get(&key).copied() {
                if let Some(result) = self.known_result(id) {
                    return Ok((id, result));
                }
            } else if let Some(instead) = self.same_up_to_numbers(&key) {
                key = instead;
                continue;
            } else if let Some(instead) = self.general(&key)? {
                key = instead;
                continue;
            }
            match self.ancestor(&key)? {
                Some(ancestor) => key = ancestor,
                None => match self.visit(key)? {
                    Ok(found) => return Ok(found),
                    Err(wider) => key = wider,
                },
            }
        }
    }

    /// What is handed on in a recursion, however often, has not been made for each call: a call in progress of the same
    /// λ is restarted as one whose argument is old.
    fn check_new(&self, key: &Key) -> Result<(), Abort> {
        let is_same = |of: &Key| of.lambda == key.lambda && of.new != Shared::Nothing;
        if key.new == Shared::Nothing {
            return Ok(());
        }
        let position = self.frames.iter().position(|frame| frame.key.as_ref().is_some_and(is_same));
        match position.and_then(|frame| Some((frame, self.frames[frame].key.as_ref()?))) {
            Some((frame, old)) => Err(Abort::Restart { frame, key: old.with_old_argument() }),
            None => Ok(()),
        }
    }

    /// The key that calls with this one are made with.
    fn redirected(&self, mut key: Key) -> Key {
        while let Some(wider) = self.redirects.get(&key) {
            key = wider.clone();
        }
        key
    }

    /// From now on, calls with `key` are made with `wider`. Folding data and forgetting numbers are no steps of one
    /// widening: what one of them makes may lead back to `key` by another. Then both are covered by a third.
    fn redirect(&mut self, key: Key, wider: Key) -> Result<Key, Abort> {
        let mut to = self.redirected(wider.clone());
        if to == key {
            let both = self.result.shapes.widen_all(&key.args, &wider.args);
            to = self.redirected(key.with(both.into()));
            if to == key {
                return Err(self.too_much_work("work").into());
            }
        }
        self.redirects.insert(key, to.clone());
        Ok(to)
    }

    /// The result of a variant that need not be interpreted now: it is final, or preliminary in this iteration.
    fn known_result(&mut self, id: VariantId) -> Option<Shape> {
        let variant = &mut self.result.variants[id];
        let (result, low) = match variant.frame {
            _ if variant.complete => (variant.result, usize::MAX),
            Some(frame) => {
                variant.recursive = true;
                (variant.result, frame)
            }
            None if variant.visited => (variant.result, variant.low),
            None => return None,
        };
        let frame = self.frame();
        frame.low = frame.low.min(low);
        Some(result)
    }

    /// The key without known numbers, when enough variants differ in nothing else.
    fn same_up_to_numbers(&mut self, key: &Key) -> Option<Key> {
        let args: Rc<[Shape]> = key.args.iter().map(|shape| self.result.shapes.forget_numbers(*shape)).collect();
        let skeleton = key.with(args);
        if skeleton == *key {
            return None;
        }
        // The calls of a recursion by known numbers count once, so that it is unrolled whole or not at all.
        let shapes = &mut self.result.shapes;
        let around = self.frames.iter().filter_map(|frame| frame.key.as_ref()).filter(|of| of.lambda == key.lambda);
        let mut is_inner = false;
        for of in around {
            let mut pairs = of.args.iter().zip(skeleton.args.iter());
            is_inner |= pairs.all(|(arg, forgotten)| shapes.forget_numbers(*arg) == *forgotten);
        }
        let (entries, all) = self.skeletons.entry(skeleton.clone()).or_insert((0, 0));
        *entries += usize::from(!is_inner);
        *all += 1;
        let most = self.options.number_variants;
        (*entries > most || *all > most.saturating_mul(ROUNDS)).then_some(skeleton)
    }

    /// The key that covers all further calls of a λ which has more variants than are worth having: one for each grade
    /// of the arguments. It grows by widening, so it ends; calls in progress that it covered before are restarted with
    /// it.
    fn general(&mut self, key: &Key) -> Result<Option<Key>, Abort> {
        let own = self.variants_of.get(&key.lambda).copied().unwrap_or(0);
        if own < self.options.lambda_variants {
            return Ok(None);
        }
        let shapes = &mut self.result.shapes;
        let grades = key.args.iter().map(|arg| shapes.grade(*arg)).collect();
        let general = self.general.entry((key.lambda, grades)).or_insert_with(|| {
            let args = key.args.iter().map(|shape| shapes.forget_numbers(*shape)).collect();
            General { args, widenings: 0 }
        });
        let args = shapes.widen_all(&general.args, &key.args);
        if args[..] == general.args[..] {
            return Ok((general.args != key.args).then(|| key.with(general.args.clone())));
        }
        general.widenings += 1;
        let args = shapes.limit(args, general.widenings, 0);
        let before = std::mem::replace(&mut general.args, args.clone());
        let key = key.with(args);
        let covered = |frame: &Frame| frame.key.as_ref().is_some_and(|k| k.lambda == key.lambda && k.args == before);
        match self.frames.iter().position(covered) {
            Some(frame) if key.args != before => Err(Abort::Restart { frame, key }),
            _ => Ok(Some(key)),
        }
    }

    /// The key of a call in progress that stands for this one, if the arguments have grown from it without end in
    /// sight; an abort if that call must be restarted with wider arguments first.
    fn ancestor(&mut self, key: &Key) -> Result<Option<Key>, Abort> {
        let mut dynamic = false;
        let mut unrolled: Vec<usize> = Vec::new();
        let mut nested: Vec<usize> = Vec::new();
        let mut walking = 0;
        let code = self.codes.code(key.lambda);
        let (mut tower, mut decided, mut decisions) = (code.tower.height(), false, 0);
        let mut functions: Option<FxHashSet<LambdaId>> = None;
        for index in (0..self.frames.len()).rev() {
            let frame = &self.frames[index];
            dynamic |= frame.dynamic > 0;
            decided |= frame.dynamic > 0;
            let (Some(old), Some(below)) = (&frame.key, frame.code) else { continue };
            if decided && tower > 0 {
                // A search within what another search looks at is of another function, of which there are so many only.
                let repeats = below.base == code.base
                    && below.tower.height() < tower
                    && self.functions(old).is_subset(functions.get_or_insert_with(|| self.functions(key)));
                if repeats {
                    (tower, decided) = (below.tower.height(), false);
                    decisions += 1;
                }
                if decisions >= self.options.max_dynamic_order {
                    return Err(self.tower_too_high("dynamic-order"));
                }
            }
            if old.lambda != key.lambda || self.result.shapes.coarse {
                continue;
            }
            nested.push(index);
            walking += usize::from(dynamic);
            if !self.result.shapes.repeats(&old.args, &key.args) {
                continue;
            }
            if !dynamic {
                unrolled.push(index);
                continue;
            }
            return self.widen_call(index, key);
        }
        if walking > WALK {
            self.fold_walked_data(&nested, key)?;
        }
        if nested.len() > self.options.max_nesting {
            self.fold_long_data(&nested)?;
            unrolled = nested;
        }
        if let Some(abort) = self.around_loops(&unrolled, key) {
            return Err(abort);
        }
        let budget = self.budgets.get(&key.lambda).copied().unwrap_or(self.options.unroll);
        if unrolled.len() <= budget {
            return Ok(None);
        }
        self.budgets.insert(key.lambda, (budget / 2).max(4));
        let outermost = *unrolled.last().expect("more than the budget");
        let old = self.frames[outermost].key.as_ref().expect("a variant's frame");
        let shapes = &mut self.result.shapes;
        let pairs = old.args.iter().zip(key.args.iter());
        let args: Rc<[Shape]> = pairs.map(|(old, new)| shapes.forget_varying_numbers(*old, *new)).collect();
        if args == old.args {
            return self.widen_call(outermost, key);
        }
        Err(Abort::Restart { frame: outermost, key: key.with(args) })
    }

    /// Restarts the outermost of the calls of a λ, one in the other, whose arguments differ from those of this call in
    /// numbers only, if there are loops in what comes between two calls. To unroll that would copy these loops, and tell
    /// them nothing but the numbers. A λ whose recursion makes data keeps them: their structure tells more.
    fn around_loops(&mut self, calls: &[usize], key: &Key) -> Option<Abort> {
        let innermost = *calls.first()?;
        let has_loops = self.frames[innermost..].iter().any(|frame| frame.loops);
        let base = self.codes.code(key.lambda).base;
        if !has_loops || self.result.shapes.open_reals || !self.codes.program.lambdas[base].body.ends_in_call() {
            return None;
        }
        for frame in calls.iter().rev() {
            let old = self.frames[*frame].key.as_ref().expect("a variant's frame");
            let shapes = &mut self.result.shapes;
            let mut forget = |old: &[Shape], new: &[Shape]| -> Rc<[Shape]> {
                old.iter().zip(new).map(|(old, new)| shapes.forget_varying_numbers(*old, *new)).collect()
            };
            let args = forget(&old.args, &key.args);
            if args != old.args && args == forget(&key.args, &old.args) {
                self.keeps_loops = true;
                return Some(Abort::Restart { frame: *frame, key: key.with(args) });
            }
        }
        None
    }

    /// The functions of the source that the arguments of a call contain, whatever they have been transformed to.
    fn functions(&self, key: &Key) -> FxHashSet<LambdaId> {
        let shapes = &self.result.shapes;
        let parts = key.args.iter().flat_map(|arg| shapes.parts(*arg));
        let mut functions = FxHashSet::default();
        for part in parts {
            functions.extend(shapes.alternatives(part).iter().filter_map(|alternative| match alternative.head {
                Head::Closure(code, _) => Some(code.base),
                _ => None,
            }));
        }
        functions
    }

    /// The key of the call in that frame, if it covers `key`; else it is restarted with arguments that do.
    fn widen_call(&mut self, frame: usize, key: &Key) -> Result<Option<Key>, Abort> {
        let old = self.frames[frame].key.clone().expect("a variant's frame");
        let shapes = &mut self.result.shapes;
        let args = shapes.widen_all(&old.args, &key.args);
        if args[..] == old.args[..] {
            return Ok(Some(old));
        }
        let widenings = self.widenings.get(&old).copied().unwrap_or(0) + 1;
        let args = shapes.limit(args, widenings, PATIENCE);
        let key = key.with(args);
        self.widenings.insert(key.clone(), widenings);
        Err(Abort::Restart { frame, key })
    }

    /// Calls of one λ walk known data that are longer than is worth unrolling: restarts the outermost of them whose
    /// arguments can be folded to recursive shapes.
    fn fold_long_data(&mut self, nested: &[usize]) -> Result<(), Abort> {
        for frame in nested.iter().rev() {
            let key = self.frames[*frame].key.clone().expect("a variant's frame");
            let limit = self.options.max_nesting / 2;
            let args: Rc<[Shape]> =
                key.args.iter().map(|arg| self.result.shapes.fold_long_chains(*arg, limit)).collect();
            if args != key.args {
                return Err(Abort::Restart { frame: *frame, key: key.with(args) });
            }
        }
        Ok(())
    }

    /// Calls of one λ walk known data, and run time decides how far. What is found there may be found in any of many
    /// places, so that what follows would be made for each of them: the outermost call takes what is walked as data of
    /// any length.
    fn fold_walked_data(&mut self, nested: &[usize], walk: &Key) -> Result<(), Abort> {
        for frame in nested.iter().rev() {
            let key = self.frames[*frame].key.clone().expect("a variant's frame");
            let pairs = key.args.iter().zip(walk.args.iter());
            let args: Rc<[Shape]> =
                pairs.map(|(before, after)| self.result.shapes.fold_walked(*before, *after)).collect();
            if args != key.args {
                return Err(Abort::Restart { frame: *frame, key: key.with(args) });
            }
        }
        Ok(())
    }

    /// Interprets a variant until its component of calls is stable, if it is the first of the component that was
    /// entered, and once otherwise. `Ok(Err(key))`: the call is to be made with that key instead.
    fn visit(&mut self, key: Key) -> Result<Result<(VariantId, Shape), Key>, Abort> {
        let id = self.variant(&key)?;
        let index = self.frames.len();
        let first_pending = self.pending.len();
        loop {
            let changes = self.changes;
            self.result.variants[id].frame = Some(index);
            self.result.variants[id].visited = true;
            let code = Some(self.codes.code(key.lambda));
            self.frames.push(Frame {
                key: Some(key.clone()),
                code,
                dynamic: 0,
                low: usize::MAX,
                loops: false,
                renews: None,
                raises: NO_ERROR,
            });
            let outcome = self.interpret(id);
            let Frame { low, loops, renews, raises, .. } = self.frames.pop().expect("the frame pushed above");
            self.result.variants[id].frame = None;
            self.result.variants[id].loops |= loops;
            let renews = renews.unwrap_or_default();
            let is_news = self.result.variants[id].renews != renews;
            self.result.variants[id].renews = renews;
            let result = match outcome {
                Ok(result) => result,
                Err(abort) => {
                    self.forget_visits(first_pending);
                    self.result.variants[id].visited = false;
                    return match abort {
                        Abort::Restart { frame, key: wider } if frame == index => {
                            self.check_work()?;
                            Ok(Err(self.redirect(key, wider)?))
                        }
                        abort => Err(abort),
                    };
                }
            };
            self.update(id, (result, raises), low >= index);
            if is_news {
                // What its rounds make anew was taken for old; the next iteration knows better.
                self.result.variants[id].gives = Shared::Nothing;
            }
            if low < index {
                self.result.variants[id].low = low;
                self.pending.push(id);
                let frame = self.frame();
                frame.low = frame.low.min(low);
                break;
            }
            if low == index && self.changes != changes {
                self.forget_visits(first_pending);
                continue;
            }
            for member in self.pending.drain(first_pending..).chain([id]) {
                self.result.variants[member].complete = true;
            }
            break;
        }
        Ok(Ok((id, self.result.variants[id].result)))
    }

    /// The variants that became pending since then are to be interpreted again.
    fn forget_visits(&mut self, first_pending: usize) {
        for member in self.pending.drain(first_pending..) {
            self.result.variants[member].visited = false;
        }
    }

    fn variant(&mut self, key: &Key) -> Result<VariantId, Abort> {
        if let Some(id) = self.memo.get(key) {
            return Ok(*id);
        }
        if self.result.variants.len() >= self.options.max_variants {
            return Err(self.too_much_work("variants").into());
        }
        *self.variants_of.entry(key.lambda).or_insert(0) += 1;
        let id = self.result.variants.push(Variant {
            key: key.clone(),
            result: Shapes::BOTTOM,
            gives: Shared::Nothing,
            makes: Shared::All,
            renews: Shared::Nothing,
            measures: Shared::Nothing,
            raises: NO_ERROR,
            facts: Rc::default(),
            recursive: false,
            loops: false,
            updates: 0,
            complete: false,
            visited: false,
            frame: None,
            low: usize::MAX,
        });
        self.memo.insert(key.clone(), id);
        Ok(id)
    }

    fn interpret(&mut self, id: VariantId) -> Result<Shape, Abort> {
        let key = self.result.variants[id].key.clone();
        let lambda = self.lambda(key.lambda);
        let mut facts = Facts::default();
        facts.begin_with(&lambda.captures, lambda.param, &key, &self.result.variants[id].renews);
        for (var, shape) in lambda.captures.iter().chain([&lambda.param]).zip(key.args.iter()) {
            facts.shapes.insert(*var, *shape);
        }
        let result = self.body(&lambda.body, &mut facts)?;
        self.result.variants[id].gives = facts.shared_outside(lambda.body.result);
        self.result.variants[id].makes = facts.new_of(lambda.body.result);
        self.result.variants[id].measures = facts.measures.clone();
        facts.forget_shared();
        self.result.variants[id].facts = Rc::new(facts);
        Ok(result)
    }

    /// The variant has that result now, or ends in these errors. It is the head of its component unless the component
    /// began before it.
    fn update(&mut self, id: VariantId, (result, raises): (Shape, [Shape; 2]), is_head: bool) {
        let variant = &self.result.variants[id];
        let (recursive, updates) = (variant.recursive, variant.updates);
        let [message, value] = variant.raises;
        let before = [variant.result, message, value];
        let shapes = &mut self.result.shapes;
        let mut grow = |old: Shape, found: Shape| {
            let widens = recursive && (is_head || updates > HEADS);
            let mut new = if widens { shapes.widen(old, found) } else { shapes.join(old, found) };
            if new != old && recursive && updates > PATIENCE {
                new = shapes.fold_repetitions(new, 0);
            }
            if new != old && recursive && updates > 2 * PATIENCE {
                new = shapes.collapse(new);
            }
            if new != old && recursive && updates > 3 * PATIENCE {
                new = shapes.fuse(new);
            }
            new
        };
        let found = [result, raises[0], raises[1]];
        let [result, message, value] = [0, 1, 2].map(|part| grow(before[part], found[part]));
        if [result, message, value] != before {
            let variant = &mut self.result.variants[id];
            (variant.result, variant.raises) = (result, [message, value]);
            variant.updates += 1;
            self.changes += 1;
        }
    }
}

impl Analyzer<'_> {
    /// What a call of a function calls, and with what: an adding form that is handed no sums does the same as the plain
    /// one does to the sensitivity.
    pub(super) fn without_sums(&mut self, code: Code, argument: Shape) -> (LambdaId, Shape) {
        let shapes = &self.result.shapes;
        if plain_without_sums(self.codes.program, code.base, &code.tower).is_some()
            && let Some(pair) = shapes.single(argument)
            && let (Head::Pair(_), [sensitivity, sums]) = (pair.head, &*pair.children)
            && shapes.is_nothing(*sums)
        {
            return (self.codes.form(code, Prim::Plain).lambda, *sensitivity);
        }
        (code.lambda, argument)
    }
}
