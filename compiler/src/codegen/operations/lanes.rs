//! Operations on two lanes → Cranelift instructions on registers of 128 bits, which every x86-64 and AArch64 has.
//!
//! ```text
//! elements        one load where elements are one real each, else one for each lane
//! with_elements   stores alike; before that, a vector that has other owners is copied
//! lanes.select    of bits: a truth value is a lane of ones, or of zeros
//! ```
//!
//! An operation computes in each lane what it computes of single numbers, to the last bit. Where the machine has no
//! instruction for it, it is a function of two lanes (`runtime/math/elementary.c`), or each lane is computed for
//! itself.
//!
//! Elements are aligned as reals are, not as lanes: loads and stores of lanes must not say more.

use crate::codegen::Error;
use crate::codegen::function::{TRUSTED, Translator};
use crate::codegen::operations::instruction::condition;
use crate::codegen::operations::vector::{Position, Width};
use crate::codegen::unit::External;
use crate::ssa::ir::{Lanewise, Real1, Real2, VectorId};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, ConstantData, InstBuilder, MemFlagsData, types};

/// The names of a function of the run time: of two lanes, and of many numbers in memory.
pub(in crate::codegen) struct LaneFunctions {
    /// `lanes (lanes)`
    pub(in crate::codegen) pair: &'static str,
    /// `void (double *, size_t)`: each becomes its value.
    pub(in crate::codegen) all: &'static str,
}

/// What a function with [`Real1::has_lanes`] is called in the run time.
pub(in crate::codegen) fn lane_functions(function: Real1) -> LaneFunctions {
    let (pair, all) = match function {
        Real1::Exp => ("vlad_exp_pair", "vlad_exp_all"),
        Real1::Log => ("vlad_log_pair", "vlad_log_all"),
        Real1::Log1p => ("vlad_log1p_pair", "vlad_log1p_all"),
        Real1::Tanh => ("vlad_tanh_pair", "vlad_tanh_all"),
        _ => panic!("{function} is computed of one number at a time"),
    };
    LaneFunctions { pair, all }
}

/// Mapped, but aligned to eight bytes only.
const LANES: MemFlagsData = MemFlagsData::new().with_notrap();

impl Translator<'_, '_, '_> {
    /// Two reals as lanes.
    pub(in crate::codegen) fn pair(&mut self, x: ir::Value, y: ir::Value) -> ir::Value {
        let first = self.builder.ins().scalar_to_vector(types::F64X2, x);
        self.builder.ins().insertlane(first, y, 1)
    }

    /// The same lanes, as no operand in memory: Cranelift makes a loaded operand of a comparison one without asking
    /// whether it is aligned to its size, as `cmppd` requires.
    fn in_register(&mut self, lanes: ir::Value) -> ir::Value {
        let bits = self.builder.ins().bitcast(types::I64X2, MemFlagsData::new(), lanes);
        self.builder.ins().bitcast(types::F64X2, MemFlagsData::new(), bits)
    }

    /// Whether a lane is true.
    pub(in crate::codegen) fn any_lane(&mut self, truths: ir::Value) -> ir::Value {
        let signs = self.builder.ins().vhigh_bits(types::I8, truths);
        let none = self.builder.ins().iconst(types::I8, 0);
        self.builder.ins().icmp(IntCC::NotEqual, signs, none)
    }

    /// An operation on each lane.
    pub(in crate::codegen) fn lanewise(&mut self, op: Lanewise, args: &[ir::Value]) -> Result<ir::Value, Error> {
        Ok(match op {
            Lanewise::Real1(Real1::Neg | Real1::Abs | Real1::Sqrt)
            | Lanewise::Real2(Real2::Add | Real2::Sub | Real2::Mul | Real2::Div) => self.arithmetic(op, args)?,
            Lanewise::Real1(op) if op.has_lanes() => {
                let function = External::MathPair(lane_functions(op).pair);
                self.call_external(function, args)?.expect("the signature has a result")
            }
            Lanewise::Real1(_) | Lanewise::Real2(_) => {
                let mut lanes = [args[0]; 2];
                for (lane, result) in (0..).zip(&mut lanes) {
                    let scalars: Vec<_> = args.iter().map(|arg| self.builder.ins().extractlane(*arg, lane)).collect();
                    *result = self.arithmetic(op, &scalars)?;
                }
                self.pair(lanes[0], lanes[1])
            }
            Lanewise::Compare(op) => {
                let [x, y] = [args[0], args[1]].map(|lanes| self.in_register(lanes));
                self.builder.ins().fcmp(condition(op), x, y)
            }
            Lanewise::Not => self.builder.ins().bnot(args[0]),
            Lanewise::And => self.builder.ins().band(args[0], args[1]),
            Lanewise::Or => self.builder.ins().bor(args[0], args[1]),
            Lanewise::RealIs(bits) => {
                let found = self.builder.ins().bitcast(types::I64X2, MemFlagsData::new(), args[0]);
                let both = [bits.to_le_bytes(), bits.to_le_bytes()].concat();
                let wanted = self.builder.func.dfg.constants.insert(ConstantData::from(&both[..]));
                let wanted = self.builder.ins().vconst(types::I64X2, wanted);
                self.builder.ins().icmp(IntCC::Equal, found, wanted)
            }
            Lanewise::Select => {
                let which = self.builder.ins().bitcast(types::F64X2, MemFlagsData::new(), args[0]);
                self.builder.ins().bitselect(which, args[1], args[2])
            }
        })
    }

    fn arithmetic(&mut self, op: Lanewise, args: &[ir::Value]) -> Result<ir::Value, Error> {
        match op {
            Lanewise::Real1(op) => self.real1(op, args[0]),
            Lanewise::Real2(op) => self.real2(op, args[0], args[1]),
            _ => panic!("{op} is no arithmetic"),
        }
    }

    fn others(&self, vector: VectorId) -> usize {
        Width::of(&self.unit.program.vectors[vector].fields).others
    }

    /// The elements of a vector when a function has been applied to each.
    pub(in crate::codegen) fn of_each(
        &mut self,
        function: Real1,
        vector: VectorId,
        args: &[ir::Value],
    ) -> Result<ir::Value, Error> {
        let own = self.own_vector(vector, args[0], args[1])?;
        let start = self.elements_start(own);
        self.call_external(External::MathAll(lane_functions(function).all), &[start, args[1]])?;
        Ok(own)
    }

    /// A field of two elements.
    pub(in crate::codegen) fn elements(&mut self, vector: VectorId, field: usize, position: Position) -> ir::Value {
        let (address, offset) = self.place(vector, field, position);
        let step = self.others(vector) as i32 * 8;
        if step == 8 {
            return self.builder.ins().load(types::F64X2, LANES, address, offset);
        }
        let first = self.builder.ins().load(types::F64, TRUSTED, address, offset);
        let second = self.builder.ins().load(types::F64, TRUSTED, address, offset + step);
        self.pair(first, second)
    }

    /// The elements of a vector when two of them have these fields.
    pub(in crate::codegen) fn with_elements(
        &mut self,
        vector: VectorId,
        position: Position,
        fields: &[ir::Value],
        is_sole: bool,
    ) -> Result<ir::Value, Error> {
        let position = self.own_position(vector, position, is_sole)?;
        let own = position.elements;
        for (index, field) in fields.iter().enumerate() {
            let (address, offset) = self.place(vector, index, position);
            if fields.len() == 1 {
                self.builder.ins().store(LANES, *field, address, offset);
                continue;
            }
            for lane in 0..2 {
                let real = self.builder.ins().extractlane(*field, lane);
                let offset = offset + i32::from(lane) * fields.len() as i32 * 8;
                self.builder.ins().store(TRUSTED, real, address, offset);
            }
        }
        Ok(own)
    }
}
