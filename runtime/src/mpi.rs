//! MPI, by its standard binary interface (version 5 of the standard, chapter 20): handles and types are the same for
//! every implementation, so that one executable works with all of them. The library is loaded when a launcher has
//! started several processes, and only then.

use crate::system;
use core::ffi::{CStr, c_char, c_int, c_long, c_void};
use core::mem::transmute_copy;
use core::ptr;

type Handle = usize;

const COMM_WORLD: Handle = 0x101;
const INFO_NULL: Handle = 0x130;
const BYTE: Handle = 0x247;
const UINT64: Handle = 0x259;
const COMM_TYPE_SHARED: c_int = 221;

const RTLD_NOW: c_int = 2;
const RTLD_GLOBAL: c_int = 0x100;

/// What the library is called: with the version of the interface, and as those who develop programs have it.
const NAMES: [&CStr; 3] = [c"libmpi_abi.so.1", c"libmpi_abi.so.0", c"libmpi_abi.so"];

/// The longest name of a file.
const LONGEST: usize = 4096;

unsafe extern "C" {
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlerror() -> *const c_char;
    fn readlink(path: *const c_char, place: *mut c_char, size: usize) -> isize;
    fn nanosleep(time: *const [c_long; 2], left: *mut [c_long; 2]) -> c_int;
    fn alarm(seconds: u32) -> u32;
    fn exit(code: c_int) -> !;
}

macro_rules! functions {
    ($($field:ident $name:literal ($($argument:ty),*);)*) => {
        /// The functions of the library.
        #[derive(Clone, Copy)]
        pub struct Library {
            $($field: unsafe extern "C" fn($($argument),*) -> c_int,)*
        }

        impl Library {
            /// Those of a library that has been opened; the name of one that it lacks.
            unsafe fn of(library: *mut c_void) -> Result<Library, &'static CStr> {
                Ok(Library { $($field: {
                    // SAFETY: the name ends in a zero byte.
                    let address = unsafe { dlsym(library, $name.as_ptr()) };
                    if address.is_null() {
                        return Err($name);
                    }
                    // SAFETY: the standard says that the function has these arguments.
                    unsafe { transmute_copy(&address) }
                },)* })
            }
        }
    };
}

functions! {
    init c"MPI_Init" (*mut c_int, *mut c_void);
    finalize c"MPI_Finalize" ();
    abort c"MPI_Abort" (Handle, c_int);
    rank c"MPI_Comm_rank" (Handle, *mut c_int);
    size c"MPI_Comm_size" (Handle, *mut c_int);
    split c"MPI_Comm_split_type" (Handle, c_int, c_int, Handle, *mut Handle);
    allgather c"MPI_Iallgather" (*const c_void, c_int, Handle, *mut c_void, c_int, Handle, Handle, *mut Handle);
    allgatherv c"MPI_Iallgatherv_c"
        (*const c_void, i64, Handle, *mut c_void, *const i64, *const isize, Handle, Handle, *mut Handle);
    broadcast c"MPI_Ibcast_c" (*mut c_void, i64, Handle, c_int, Handle, *mut Handle);
    test c"MPI_Test" (*mut Handle, *mut c_int, *mut c_void);
}

/// Why there is no library.
pub enum Missing {
    /// The loader says why.
    Refused(&'static [u8]),
    /// It is not what it should be: this function is missing.
    Lacks(&'static CStr),
}

/// Opens the library with that name, or the one that belongs to the launcher, or that of the system.
///
/// # Errors
///
/// When there is none.
pub fn open(name: Option<&[u8]>) -> Result<Library, Missing> {
    let mut path = [0; LONGEST + 32];
    let (named, beside) = match name {
        Some(name) => (copied(name, &mut path), None),
        None => (None, beside_launcher(&mut path)),
    };
    let opened = match (name, named) {
        // SAFETY: the name ends in a zero byte.
        (Some(_), Some(())) => unsafe { dlopen(path.as_ptr().cast(), RTLD_NOW | RTLD_GLOBAL) },
        (Some(_), None) => return Err(Missing::Refused(b"its name is too long")),
        (None, _) => first(&mut path, beside),
    };
    if opened.is_null() {
        // SAFETY: the last call has failed, so there is a text.
        return Err(Missing::Refused(unsafe { system::text(dlerror()) }));
    }
    // SAFETY: the library is open.
    unsafe { Library::of(opened) }.map_err(Missing::Lacks)
}

/// Writes a text with a zero byte behind it.
fn copied(text: &[u8], place: &mut [u8]) -> Option<()> {
    place.get_mut(..text.len())?.copy_from_slice(text);
    *place.get_mut(text.len())? = 0;
    Some(())
}

/// The first library that can be opened, beside the launcher (in a folder whose name has so many bytes) or elsewhere.
fn first(path: &mut [u8], beside: Option<usize>) -> *mut c_void {
    for name in NAMES {
        let Some(length) = beside else { break };
        if copied(name.to_bytes(), &mut path[length..]).is_some() {
            // SAFETY: the name ends in a zero byte.
            let opened = unsafe { dlopen(path.as_ptr().cast(), RTLD_NOW | RTLD_GLOBAL) };
            if !opened.is_null() {
                return opened;
            }
        }
    }
    for name in NAMES {
        // SAFETY: the name ends in a zero byte.
        let opened = unsafe { dlopen(name.as_ptr(), RTLD_NOW | RTLD_GLOBAL) };
        if !opened.is_null() || name == NAMES[NAMES.len() - 1] {
            return opened;
        }
    }
    ptr::null_mut()
}

/// The folder `lib` beside the folder of the program that has started this one; how long its name is.
fn beside_launcher(path: &mut [u8]) -> Option<usize> {
    let mut link = *b"/proc/\0                  ";
    let mut number = crate::processes::parent();
    let digits = number.checked_ilog10()? as usize + 1;
    for place in (6..6 + digits).rev() {
        link[place] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    copied(b"/exe", &mut link[6 + digits..])?;
    // SAFETY: the name ends in a zero byte, and the path has so much room.
    let length = unsafe { readlink(link.as_ptr().cast(), path.as_mut_ptr().cast(), LONGEST) };
    let launcher = path.get(..usize::try_from(length).ok()?)?;
    let folder = launcher.iter().rposition(|byte| *byte == b'/')?;
    let parent = launcher[..folder].iter().rposition(|byte| *byte == b'/')?;
    let lib = b"/lib/";
    path.get_mut(parent..parent + lib.len())?.copy_from_slice(lib);
    Some(parent + lib.len())
}

/// Ends the process after so many seconds, whatever it waits for.
pub fn end_in(seconds: u32) {
    // SAFETY: always sound.
    unsafe { alarm(seconds) };
}

/// Ends the process, after libraries have done what they do at the end.
pub fn exit_process(code: c_int) -> ! {
    // SAFETY: the program does nothing any more.
    unsafe { exit(code) }
}

/// Waits for so many nanoseconds, below a second, or less if a signal comes.
pub fn sleep(nanoseconds: u64) {
    // SAFETY: the time is complete.
    unsafe { nanosleep(&[0, nanoseconds as c_long], ptr::null_mut()) };
}

/// Something that ranks do together and that is not finished.
pub struct Request(Handle);

impl Library {
    /// Begins: the number of this rank, and how many there are.
    pub fn begin(&self) -> (usize, usize) {
        // SAFETY: the library is initialised once; errors end the program.
        unsafe { (self.init)(ptr::null_mut(), ptr::null_mut()) };
        let (mut rank, mut count) = (0, 0);
        // SAFETY: there is room for the numbers.
        unsafe {
            (self.rank)(COMM_WORLD, &raw mut rank);
            (self.size)(COMM_WORLD, &raw mut count);
        }
        (usize::try_from(rank).unwrap_or(0), usize::try_from(count).unwrap_or(1))
    }

    /// The ranks on the same machine, and how many there are.
    pub fn neighbours(&self) -> (Handle, usize) {
        let (mut neighbours, mut count) = (0, 0);
        // SAFETY: there is room for the results.
        unsafe {
            (self.split)(COMM_WORLD, COMM_TYPE_SHARED, 0, INFO_NULL, &raw mut neighbours);
            (self.size)(neighbours, &raw mut count);
        }
        (neighbours, usize::try_from(count).unwrap_or(1))
    }

    /// Gives all ranks, or those of a communicator, the words of each, of which all have the same number.
    ///
    /// # Safety
    ///
    /// There is room for all. Nobody touches either until the request is finished.
    pub unsafe fn gather_same(&self, own: &[u64], all: *mut u64, of: Option<Handle>) -> Request {
        let (bytes, mut request) = ((own.len() * 8) as c_int, 0);
        let of = of.unwrap_or(COMM_WORLD);
        // SAFETY: the caller's obligation.
        unsafe {
            (self.allgather)(own.as_ptr().cast(), bytes, BYTE, all.cast(), bytes, BYTE, of, &raw mut request);
        }
        Request(request)
    }

    /// Gives all ranks the words of each: how many, and where they belong, is known.
    ///
    /// # Safety
    ///
    /// As for [`Library::gather_same`]; the two tables have a number for each rank.
    pub unsafe fn gather(&self, own: &[u64], all: *mut u64, counts: *const i64, places: *const isize) -> Request {
        let (count, mut request) = (own.len() as i64, 0);
        // SAFETY: the caller's obligation.
        unsafe {
            (self.allgatherv)(
                own.as_ptr().cast(),
                count,
                UINT64,
                all.cast(),
                counts,
                places,
                UINT64,
                COMM_WORLD,
                &raw mut request,
            );
        }
        Request(request)
    }

    /// Gives all ranks the bytes of rank 0.
    ///
    /// # Safety
    ///
    /// Nobody touches them until the request is finished.
    pub unsafe fn broadcast(&self, bytes: &mut [u8]) -> Request {
        let mut request = 0;
        // SAFETY: the caller's obligation.
        unsafe {
            (self.broadcast)(bytes.as_mut_ptr().cast(), bytes.len() as i64, BYTE, 0, COMM_WORLD, &raw mut request);
        }
        Request(request)
    }

    /// Goes on with a request; whether it is finished.
    pub fn is_finished(&self, request: &mut Request) -> bool {
        let mut finished = 0;
        // SAFETY: nobody wants the status, for which there is address 0.
        unsafe { (self.test)(&raw mut request.0, &raw mut finished, ptr::null_mut()) };
        finished != 0
    }

    /// Ends, when all do.
    pub fn end(&self) {
        // SAFETY: nothing is communicated any more.
        unsafe { (self.finalize)() };
    }

    /// Ends all ranks.
    pub fn abort(&self, code: c_int) {
        // SAFETY: always sound.
        unsafe { (self.abort)(COMM_WORLD, code) };
    }
}
