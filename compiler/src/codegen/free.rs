//! How a box dies: a function that compiled code calls for each that loses its last owner, and that most often needs no
//! help.
//!
//! ```text
//! free(box):  if the box has no pointer fields and lies in a page: it joins the free boxes of the page, and if it is the only
//!             one, the page joins its queue; so does a view, whose box of elements has an owner less, and lives on
//!             or dies;
//!             otherwise the run time does this, after the owners of what the fields refer to have been counted
//! ```
//!
//! It preserves all registers, of which it uses few itself: vectors of numbers die in loops, and what lives across
//! their death should stay where it is.

use crate::codegen::function::TRUSTED;
use crate::codegen::unit::{External, Unit};
use crate::codegen::{Error, layout};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, Signature, UserFuncName, types};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};

/// The function.
pub fn function(unit: &mut Unit, signature: Signature) -> Result<ir::Function, Error> {
    let mut code = ir::Function::with_name_signature(UserFuncName::default(), signature);
    let [queue_page, free] = ["vlad_queue_page", "vlad_free"].map(|name| unit.external(External::Slow(name)));
    let (queue_page, free) = (unit.import(queue_page?, &mut code), unit.import(free?, &mut code));
    let mut context = FunctionBuilderContext::new();
    let mut builder = FunctionBuilder::new(&mut code, &mut context);
    let [entry, plain, in_page, done, special, view, viewed, owned, last, other] =
        std::array::from_fn(|_| builder.create_block());
    for block in [last, other] {
        builder.set_cold_block(block);
    }

    builder.append_block_params_for_function_params(entry);
    builder.switch_to_block(entry);
    let dead = builder.block_params(entry)[0];
    // The number of pointer fields and the class.
    let kind = builder.ins().uload16(types::I64, TRUSTED, dead, 0);
    let first = builder.ins().band_imm_s(kind, 0xff);
    builder.ins().brif(first, special, &[], plain, &[]);

    builder.switch_to_block(plain);
    let classes = (0..layout::CLASSES).take_while(|class| layout::is_in_page(*class)).count();
    let is_large = builder.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, kind, (classes as i64) << 8);
    builder.ins().brif(is_large, special, &[], in_page, &[]);

    builder.switch_to_block(in_page);
    join_page(&mut builder, dead, queue_page, done);

    builder.switch_to_block(special);
    let class = builder.ins().ushr_imm_u(kind, 8);
    let is_view = builder.ins().icmp_imm_u(IntCC::Equal, class, layout::VIEW as i64);
    builder.ins().brif(is_view, view, &[], other, &[]);

    builder.switch_to_block(view);
    let base = builder.ins().load(types::I64, TRUSTED, dead, layout::BASE_OFFSET);
    join_page(&mut builder, dead, queue_page, viewed);

    builder.switch_to_block(viewed);
    builder.ins().brif(base, owned, &[], done, &[]);

    builder.switch_to_block(owned);
    let owners = builder.ins().load(types::I32, TRUSTED, base, layout::COUNT_OFFSET);
    let owners = builder.ins().iadd_imm_s(owners, -1);
    builder.ins().store(TRUSTED, owners, base, layout::COUNT_OFFSET);
    builder.ins().brif(owners, done, &[], last, &[]);

    builder.switch_to_block(last);
    builder.ins().call(free, &[base]);
    builder.ins().jump(done, &[]);

    builder.switch_to_block(other);
    builder.ins().call(free, &[dead]);
    builder.ins().jump(done, &[]);

    builder.switch_to_block(done);
    builder.ins().return_(&[]);
    unit.finish(builder);
    Ok(code)
}

/// A box joins the free boxes of its page, and the page its queue if it is the only one; then control goes to a block.
fn join_page(builder: &mut FunctionBuilder, dead: ir::Value, queue_page: ir::FuncRef, then: ir::Block) {
    let is_only = builder.create_block();
    builder.set_cold_block(is_only);
    let page = builder.ins().band_imm_s(dead, -(layout::PAGE as i64));
    let first = builder.ins().load(types::I64, TRUSTED, page, layout::PAGE_FREE_OFFSET);
    builder.ins().store(TRUSTED, first, dead, 0);
    builder.ins().store(TRUSTED, dead, page, layout::PAGE_FREE_OFFSET);
    builder.ins().brif(first, then, &[], is_only, &[]);

    builder.switch_to_block(is_only);
    builder.ins().call(queue_page, &[page]);
    builder.ins().jump(then, &[]);
}
