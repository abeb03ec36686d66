//! Vectors in the evaluator of SSA.
//!
//! Where owners are counted, a vector that nobody else owns is changed in place: its elements move to a new box, and
//! the old one counts as freed, so that a later use of the old vector is found.

use crate::ssa::arithmetic;
use crate::ssa::eval::{BoxData, Content, Datum, Error, Machine, broken};
use crate::ssa::ir::{Kernel, LANES, Real1, Value, VectorId};
use crate::ssa::verify::Stage;
use std::rc::Rc;

/// Larger vectors are not made, no matter how much fuel there is.
const MOST_FIELDS: usize = 1 << 28;

/// A kernel counts as the loops that it stands for: so many steps for each round.
const STEPS_OF_A_ROUND: usize = 8;

/// About how many rounds the inner loops of a kernel make; 0 where that follows from the vectors that it reads.
fn rounds(kernel: Kernel, sizes: &[f64]) -> usize {
    let rounds = match (kernel, sizes) {
        (Kernel::Product, [m, k, n, ..]) => m * k * n,
        (Kernel::Cholesky | Kernel::Lu, [n]) => n * n * n / 3.0,
        (Kernel::Triangular, [_, _, _, n, m]) => n * n * m / 2.0,
        (Kernel::Qr, [m, n]) => m * n * n,
        (Kernel::QrMultiply, [_, m, n, c]) => 2.0 * m * n * c,
        (Kernel::SymmetricEigen, [n]) => 9.0 * n * n * n,
        (Kernel::SingularValues, [m, n]) => 20.0 * m * n * n,
        (Kernel::Fourier, [n]) => n * n.max(1.0).log2(),
        _ => 0.0,
    };
    rounds as usize
}

impl Machine<'_, '_> {
    fn width(&self, vector: VectorId) -> usize {
        self.program.vectors[vector].fields.len()
    }

    /// So many vacant fields cost as many steps.
    fn pay(&mut self, fields: usize) -> Result<(), Error> {
        self.counts.steps = self.counts.steps.saturating_add(fields as u64);
        match self.options.fuel {
            Some(fuel) if self.counts.steps > fuel => Err(Error::OutOfFuel),
            _ => Ok(()),
        }
    }

    pub(super) fn new_vector(&mut self, vector: VectorId, base: usize, length: Value) -> Result<Datum, Error> {
        let length = self.int(base, length)?;
        let fields = usize::try_from(length).ok().and_then(|length| length.checked_mul(self.width(vector)));
        let Some(fields) = fields.filter(|fields| *fields <= MOST_FIELDS) else { return Err(Error::OutOfFuel) };
        self.pay(fields)?;
        Ok(self.make_box(Content::Elements(vector), vec![Datum::Vacant; fields]))
    }

    /// The vector that a kernel makes.
    pub(super) fn kernel(
        &mut self,
        kernel: Kernel,
        vector: VectorId,
        base: usize,
        args: &[Value],
    ) -> Result<Datum, Error> {
        let length = usize::try_from(self.int(base, args[0])?).ok().filter(|length| *length <= MOST_FIELDS);
        let Some(length) = length else { return Err(Error::OutOfFuel) };
        self.pay(length)?;
        let (sizes, vectors) = args[1..].split_at(kernel.sizes());
        let sizes = sizes.iter().map(|size| self.real(base, *size)).collect::<Result<Vec<f64>, _>>()?;
        let mut operands = Vec::new();
        for operand in vectors.chunks_exact(2) {
            let data = match self.get(base, operand[0])? {
                Datum::Box(data) if data.content == Content::Elements(vector) => data.clone(),
                other => return broken(format!("{} is {other:?}, not a {vector}", operand[0])),
            };
            self.check_alive(operand[0], &data)?;
            let count = data.fields.borrow().len();
            if i64::try_from(count).ok() != Some(self.int(base, operand[1])?) {
                return broken(format!("{} has {count} elements", operand[0]));
            }
            let numbers = (0..count).map(|position| match read(&data, position, operand[0])? {
                Datum::Real(x) => Ok(x),
                other => broken(format!("{} holds {other:?}", operand[0])),
            });
            operands.push(numbers.collect::<Result<Vec<f64>, Error>>()?);
        }
        let read = match kernel {
            // A part of a vector is a view.
            Kernel::Part => length,
            _ => operands.iter().map(Vec::len).max().unwrap_or(0),
        };
        self.pay(STEPS_OF_A_ROUND.saturating_mul(rounds(kernel, &sizes).max(read)))?;
        let operands: Vec<&[f64]> = operands.iter().map(|numbers| &numbers[..]).collect();
        let mut result = vec![0.0; length];
        if kernel.run(&mut result, &sizes, &operands).is_err() {
            return Err(Error::OutOfFuel);
        }
        Ok(self.make_box(Content::Elements(vector), result.into_iter().map(Datum::Real).collect()))
    }

    /// Memory for vectors, none of which has been taken.
    pub(super) fn new_rows(&mut self, vector: VectorId, base: usize, count: Value) -> Result<Datum, Error> {
        let count = usize::try_from(self.int(base, count)?).ok().filter(|count| *count <= MOST_FIELDS);
        let Some(count) = count else { return Err(Error::OutOfFuel) };
        self.pay(count)?;
        Ok(self.make_box(Content::Rows(vector), vec![Datum::Bool(false); count]))
    }

    /// A new vector, for which a place is taken that must be free.
    pub(super) fn new_row(&mut self, vector: VectorId, base: usize, args: &[Value]) -> Result<Datum, Error> {
        let place = usize::try_from(self.int(base, args[2])?).ok();
        match self.get(base, args[0])? {
            Datum::Box(data) if data.content == Content::Rows(vector) => {
                self.check_alive(args[0], data)?;
                let mut rows = data.fields.borrow_mut();
                let row = place.and_then(|place| rows.get_mut(place));
                if row.is_some_and(|row| matches!(std::mem::replace(row, Datum::Bool(true)), Datum::Bool(true))) {
                    return broken(format!("a row of {} is taken for the second time", args[0]));
                }
            }
            other => return broken(format!("{} is {other:?}, not memory for rows of {vector}", args[0])),
        }
        self.new_vector(vector, base, args[1])
    }

    /// The box of the elements, and the position of the first field of the element at the place.
    fn place(&self, vector: VectorId, base: usize, args: &[Value]) -> Result<(Rc<BoxData>, usize), Error> {
        let (value, length, place) = (args[0], self.int(base, args[1])?, self.int(base, args[2])?);
        let data = match self.get(base, value)? {
            Datum::Box(data) if data.content == Content::Elements(vector) => data.clone(),
            other => return broken(format!("{value} is {other:?}, not a {vector}")),
        };
        self.check_alive(value, &data)?;
        let width = self.width(vector);
        let position = usize::try_from(place).ok().and_then(|place| place.checked_mul(width));
        let whole = usize::try_from(length).ok().and_then(|length| length.checked_mul(width));
        match position.filter(|_| place < length) {
            Some(position) if whole == Some(data.fields.borrow().len()) => Ok((data, position)),
            _ => broken(format!(
                "place {place} of {length} in {value}, which has {} fields of elements of {width}",
                data.fields.borrow().len()
            )),
        }
    }

    pub(super) fn element(
        &mut self,
        vector: VectorId,
        field: u32,
        base: usize,
        args: &[Value],
    ) -> Result<Datum, Error> {
        let (data, position) = self.place(vector, base, args)?;
        read(&data, position + field as usize, args[0])
    }

    pub(super) fn take_element(
        &mut self,
        vector: VectorId,
        field: u32,
        base: usize,
        args: &[Value],
    ) -> Result<Datum, Error> {
        let (data, position) = self.place(vector, base, args)?;
        let position = position + field as usize;
        let taken = read(&data, position, args[0])?;
        match &taken {
            _ if data.owners.get() == 1 => data.fields.borrow_mut()[position] = Datum::Vacant,
            Datum::Box(shared) => shared.owners.set(shared.owners.get() + 1),
            _ => {}
        }
        Ok(taken)
    }

    pub(super) fn with_element(&mut self, vector: VectorId, base: usize, args: &[Value]) -> Result<Datum, Error> {
        let (data, position) = self.place(vector, base, args)?;
        let new = self.hand_on(base, &args[3..])?;
        self.changed(args[0], vector, &data, position, new)
    }

    /// The vector, with one owner.
    pub(super) fn own(&mut self, vector: VectorId, base: usize, args: &[Value]) -> Result<Datum, Error> {
        let data = match self.get(base, args[0])? {
            Datum::Box(data) if data.content == Content::Elements(vector) => data.clone(),
            other => return broken(format!("{} is {other:?}, not a {vector}", args[0])),
        };
        self.check_alive(args[0], &data)?;
        let length = self.int(base, args[1])?;
        if usize::try_from(length).ok().map(|length| length * self.width(vector)) != Some(data.fields.borrow().len()) {
            return broken(format!("{} has not {length} elements", args[0]));
        }
        self.changed(args[0], vector, &data, 0, Vec::new())
    }

    /// The vector when a function has been applied to each of its elements.
    pub(super) fn of_each(
        &mut self,
        function: Real1,
        vector: VectorId,
        base: usize,
        args: &[Value],
    ) -> Result<Datum, Error> {
        let own = self.own(vector, base, args)?;
        let Datum::Box(data) = &own else { return broken(format!("{own:?} is no vector")) };
        let count = data.fields.borrow().len();
        self.pay(count)?;
        for position in 0..count {
            let Datum::Real(x) = read(data, position, args[0])? else {
                return broken(format!("{} is vacant", args[0]));
            };
            data.fields.borrow_mut()[position] = Datum::Real(arithmetic::real1(function, x));
        }
        Ok(own)
    }

    /// The vector when these fields stand from the position on.
    fn changed(
        &mut self,
        value: Value,
        vector: VectorId,
        data: &BoxData,
        position: usize,
        new: Vec<Datum>,
    ) -> Result<Datum, Error> {
        let is_counted = self.options.stage == Stage::Counted;
        let is_shared = data.owners.get() > 1;
        let mut fields = if is_counted && !is_shared { data.fields.take() } else { data.fields.borrow().clone() };
        let old: Vec<Datum> = fields.splice(position..position + new.len(), new).collect();
        if is_counted && !is_shared {
            data.owners.set(0);
            self.live_boxes -= 1;
            self.live_fields -= 1 + fields.len() as u64;
            self.release_all(value, old)?;
        } else {
            self.pay(fields.len())?;
            self.counts.copies += u64::from(is_counted);
            self.share(data, &old, position, &fields);
        }
        let changed = self.make_box(Content::Elements(vector), fields);
        // It is the same box.
        self.counts.boxes -= u64::from(is_counted && !is_shared);
        Ok(changed)
    }

    /// The elements at a place and at the next.
    pub(super) fn elements(
        &mut self,
        vector: VectorId,
        field: u32,
        base: usize,
        args: &[Value],
    ) -> Result<Datum, Error> {
        let width = self.width(vector);
        let (data, position) = self.places(vector, base, args)?;
        let fields = data.fields.borrow();
        match [0, 1].map(|lane| &fields[position + lane * width + field as usize]) {
            [Datum::Real(x), Datum::Real(y)] => Ok(Datum::Reals([*x, *y])),
            _ => broken(format!("an element of {} is read before it is set", args[0])),
        }
    }

    /// Two changes at once.
    pub(super) fn with_elements(&mut self, vector: VectorId, base: usize, args: &[Value]) -> Result<Datum, Error> {
        let (data, position) = self.places(vector, base, args)?;
        let lanes: Vec<[f64; LANES]> = args[3..].iter().map(|arg| self.reals(base, *arg)).collect::<Result<_, _>>()?;
        let new = [0, 1].into_iter().flat_map(|lane| lanes.iter().map(move |reals| Datum::Real(reals[lane])));
        self.changed(args[0], vector, &data, position, new.collect())
    }

    /// Like [`Machine::place`], but there is an element behind it.
    fn places(&self, vector: VectorId, base: usize, args: &[Value]) -> Result<(Rc<BoxData>, usize), Error> {
        let (data, position) = self.place(vector, base, args)?;
        let length = data.fields.borrow().len();
        if position + LANES * self.width(vector) > length {
            return broken(format!("{} is the last place of {}", args[2], args[0]));
        }
        Ok((data, position))
    }

    /// What a copy shares with the vector has one more owner, and the vector itself one less.
    fn share(&mut self, data: &BoxData, old: &[Datum], position: usize, fields: &[Datum]) {
        if self.options.stage == Stage::Pure {
            return;
        }
        data.owners.set(data.owners.get() - 1);
        for (index, datum) in fields.iter().enumerate() {
            if let Datum::Box(shared) = datum
                && !(position..position + old.len()).contains(&index)
            {
                shared.owners.set(shared.owners.get() + 1);
            }
        }
    }
}

/// The field at a position of a vector's data; `vector` is its name.
fn read(data: &BoxData, position: usize, vector: Value) -> Result<Datum, Error> {
    match &data.fields.borrow()[position] {
        Datum::Vacant => broken(format!("an element of {vector} is read before it is set")),
        datum => Ok(datum.clone()),
    }
}
