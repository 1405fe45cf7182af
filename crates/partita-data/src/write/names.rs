//! Giving files their names by calls of the system alone, so that a helper process can do it that outlives the program.

use std::ffi::CString;

/// A file that gets its name.
pub(super) struct Move {
    /// The open file, if it has no name yet.
    pub handle: Option<CString>,
    /// Its temporary name, which a file without a name gets first.
    pub name: CString,
    /// Its name at the end.
    pub target: CString,
    /// Whether nothing has that name yet.
    pub free: bool,
}

/// Make all moves in order; the first that fails leaves its reason as the last error of the system.
///
/// Only calls that are allowed between a fork and the end of the child: no allocation, no lock.
pub(super) fn give(moves: &[Move]) -> Result<(), usize> {
    // A file that takes nobody's place needs no temporary name if it is alone.
    if let [Move { handle: Some(handle), target, free: true, .. }] = moves
        && link(handle, target)
    {
        return Ok(());
    }
    for (at, step) in moves.iter().enumerate() {
        if step.handle.as_ref().is_some_and(|handle| !link(handle, &step.name)) {
            let reason = last_error();
            remove(&moves[..at]);
            set_last_error(reason);
            return Err(at);
        }
    }
    for (at, step) in moves.iter().enumerate() {
        // SAFETY: both are strings that end with a zero byte.
        if unsafe { libc::rename(step.name.as_ptr(), step.target.as_ptr()) } != 0 {
            let reason = last_error();
            remove(&moves[at..]);
            set_last_error(reason);
            return Err(at);
        }
    }
    Ok(())
}

/// Whether a helper process made all moves. It is in no group of processes, so that signals for the program do not reach it.
pub(super) fn by_helper(moves: &[Move]) -> bool {
    // SAFETY: the child makes calls of the system only, which are allowed after a fork of a program with threads, and ends without
    // running anything else.
    match unsafe { libc::fork() } {
        -1 => false,
        0 => {
            // SAFETY: as above.
            unsafe {
                libc::setsid();
                libc::_exit(i32::from(give(moves).is_err()))
            }
        }
        child => succeeded(child),
    }
}

fn succeeded(child: libc::pid_t) -> bool {
    let mut status = 0;
    loop {
        // SAFETY: `status` is a place for the status.
        match unsafe { libc::waitpid(child, &raw mut status, 0) } {
            -1 if last_error() == libc::EINTR => {}
            found => return found == child && libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0,
        }
    }
}

#[cfg(target_os = "linux")]
fn link(handle: &CString, name: &CString) -> bool {
    let here = libc::AT_FDCWD;
    // SAFETY: both are strings that end with a zero byte.
    unsafe { libc::linkat(here, handle.as_ptr(), here, name.as_ptr(), libc::AT_SYMLINK_FOLLOW) == 0 }
}

/// A file without a name is made on Linux only.
#[cfg(not(target_os = "linux"))]
fn link(_handle: &CString, _name: &CString) -> bool {
    false
}

/// Remove temporary names that were given here.
fn remove(moves: &[Move]) {
    for step in moves.iter().filter(|step| step.handle.is_some()) {
        // SAFETY: a string that ends with a zero byte.
        unsafe { libc::unlink(step.name.as_ptr()) };
    }
}

fn last_error() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

#[cfg(target_os = "linux")]
fn set_last_error(reason: i32) {
    // SAFETY: the place of this thread's last error.
    unsafe { *libc::__errno_location() = reason };
}

/// What removing the names may have changed is told instead.
#[cfg(not(target_os = "linux"))]
fn set_last_error(_reason: i32) {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use crate::{AtomicFile, appear_together};
    use std::fs;
    use std::io::Write;

    #[test]
    fn a_move_that_fails_is_told_and_leaves_no_temporary_name() {
        let directory = tempfile::tempdir().unwrap();
        let [a, b] = ["a", "b"].map(|name| directory.path().join(name));
        let begun = |path| {
            let mut file = AtomicFile::create(path).unwrap();
            file.write_all(b"new").unwrap();
            file.complete().unwrap()
        };
        let files = vec![begun(&a), begun(&b)];
        // Something that no file can replace takes the second place in the meantime.
        fs::create_dir(&b).unwrap();
        let told = appear_together(files).unwrap_err().to_string();
        assert!(told.contains("cannot write") && told.contains("directory"), "{told}");
        let mut names: Vec<_> =
            fs::read_dir(directory.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["a", "b"]);
    }
}
