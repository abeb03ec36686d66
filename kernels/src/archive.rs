//! What compiled programs link: a function for each kernel, and memory for them from the C library.

use crate::Kernel;
use core::alloc::{GlobalAlloc, Layout};
use core::ffi::c_void;
use core::slice;

unsafe extern "C" {
    fn aligned_alloc(alignment: usize, size: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
    fn abort() -> !;
}

struct Memory;

// SAFETY: the C library keeps these promises.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let alignment = layout.align().max(size_of::<usize>());
        // SAFETY: the alignment is a power of two that divides the size.
        unsafe { aligned_alloc(alignment, layout.size().next_multiple_of(alignment)).cast() }
    }
    unsafe fn dealloc(&self, memory: *mut u8, _: Layout) {
        // SAFETY: this is memory from `alloc`.
        unsafe { free(memory.cast()) }
    }
}

#[global_allocator]
static MEMORY: Memory = Memory;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    // SAFETY: ends the process.
    unsafe { abort() }
}

/// Runs a kernel on operands that stand in memory: the address and the length of the result, each size as a double, the
/// address and the length of each vector. Gives 1 if there is no memory left to work in.
#[inline(always)]
unsafe fn run<const SIZES: usize, const VECTORS: usize>(kernel: Kernel, request: *const u64) -> u64 {
    // SAFETY: the caller's obligation.
    unsafe {
        let vector = |at: usize| (*request.add(at) as *mut f64, *request.add(at + 1) as usize);
        let (result, length) = vector(0);
        let sizes: [f64; SIZES] = core::array::from_fn(|i| f64::from_bits(*request.add(2 + i)));
        let vectors: [&[f64]; VECTORS] = core::array::from_fn(|i| {
            let (address, length) = vector(2 + SIZES + 2 * i);
            slice::from_raw_parts(address, length)
        });
        u64::from(kernel.run(slice::from_raw_parts_mut(result, length), &sizes, &vectors).is_err())
    }
}

macro_rules! kernels {
    ($($symbol:ident = $kernel:ident, $sizes:literal, $vectors:literal;)*) => {
        $(
            /// See [`run`].
            ///
            /// # Safety
            ///
            /// The request is as the kernel wants it, and nothing else refers to the result.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $symbol(request: *const u64) -> u64 {
                // SAFETY: the caller's obligation.
                unsafe { run::<$sizes, $vectors>(Kernel::$kernel, request) }
            }
        )*
    };
}

kernels! {
    vlad_kernel_product = Product, 5, 2;
    vlad_kernel_cholesky = Cholesky, 1, 1;
    vlad_kernel_triangular = Triangular, 5, 2;
    vlad_kernel_lu = Lu, 1, 1;
    vlad_kernel_qr = Qr, 2, 1;
    vlad_kernel_qr_multiply = QrMultiply, 4, 2;
    vlad_kernel_symmetric_eigen = SymmetricEigen, 1, 1;
    vlad_kernel_singular_values = SingularValues, 2, 1;
    vlad_kernel_transpose = Transpose, 2, 1;
    vlad_kernel_fourier = Fourier, 1, 2;
    vlad_kernel_order = Order, 0, 1;
    vlad_kernel_random = Random, 5, 0;
    vlad_kernel_dot = Dot, 0, 2;
}
