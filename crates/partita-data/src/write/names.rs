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
    /// A second name for what has that name now, so that it can come back; none if nothing has it.
    pub old: Option<CString>,
}

/// A move that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Failure {
    /// Which one.
    pub at: usize,
    /// The error of the system.
    pub reason: i32,
    /// How many of those before it could not be undone.
    pub stay: usize,
}

/// Make all moves in order. If one fails, those before it are undone: what was there comes back.
///
/// Only calls that are allowed between a fork and the end of the child: no allocation, no lock.
pub(super) fn give(moves: &[Move]) -> Result<(), Failure> {
    // A file that takes nobody's place needs no temporary name if it is alone.
    if let [Move { handle: Some(handle), target, old: None, .. }] = moves
        && link(handle, target)
    {
        return Ok(());
    }
    for (at, step) in moves.iter().enumerate() {
        if step.handle.as_ref().is_some_and(|handle| !link(handle, &step.name)) {
            let reason = last_error();
            remove(&moves[..at]);
            return Err(Failure { at, reason, stay: 0 });
        }
    }
    if moves.len() > 1 {
        moves.iter().for_each(keep);
    }
    for (at, step) in moves.iter().enumerate() {
        if !rename(&step.name, &step.target) {
            let reason = last_error();
            let stay = undo(&moves[..at]);
            moves[at..].iter().for_each(forget);
            remove(&moves[at..]);
            return Err(Failure { at, reason, stay });
        }
    }
    moves.iter().for_each(forget);
    Ok(())
}

/// Give what is there a second name. Some file systems cannot; then it does not come back.
fn keep(step: &Move) {
    if let Some(old) = &step.old {
        // SAFETY: both are strings that end with a zero byte.
        unsafe { libc::link(step.target.as_ptr(), old.as_ptr()) };
    }
}

/// Remove that second name.
fn forget(step: &Move) {
    if let Some(old) = &step.old {
        unlink(old);
    }
}

/// Undo moves; returns how many stay as they are.
fn undo(moves: &[Move]) -> usize {
    let undone = |step: &Move| match &step.old {
        Some(old) => rename(old, &step.target),
        None => unlink(&step.target),
    };
    moves.iter().rev().filter(|step| !undone(step)).count()
}

fn rename(from: &CString, to: &CString) -> bool {
    // SAFETY: both are strings that end with a zero byte.
    unsafe { libc::rename(from.as_ptr(), to.as_ptr()) == 0 }
}

fn unlink(name: &CString) -> bool {
    // SAFETY: a string that ends with a zero byte.
    unsafe { libc::unlink(name.as_ptr()) == 0 }
}

/// The moves made by a helper process; nothing if there can be none, or it did not say what it did. It is in no group of processes, so
/// that signals for the program do not reach it.
pub(super) fn by_helper(moves: &[Move]) -> Option<Result<(), Failure>> {
    let mut ends = [0; 2];
    // SAFETY: a place for two numbers.
    if unsafe { libc::pipe(ends.as_mut_ptr()) } != 0 {
        return None;
    }
    let [from, to] = ends;
    for end in ends {
        // Programs that are started meanwhile do not hold it open.
        // SAFETY: opened above.
        unsafe { libc::fcntl(end, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
    // SAFETY: the child makes calls of the system only, which are allowed after a fork of a program with threads, and ends without
    // running anything else.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: as above.
        unsafe { libc::setsid() };
        tell(to, give(moves));
        // SAFETY: as above.
        unsafe { libc::_exit(0) }
    }
    // Only the helper can write now: if it is killed, reading ends.
    // SAFETY: opened above, and used by nobody else.
    unsafe { libc::close(to) };
    let told = if child > 0 { told(from) } else { None };
    // SAFETY: as above.
    unsafe { libc::close(from) };
    if child > 0 {
        wait(child);
    }
    told
}

/// What happened, as three numbers. All fit: there are few files, and errors are small numbers.
fn tell(end: libc::c_int, found: Result<(), Failure>) {
    let words = match found {
        Ok(()) => [i32::MAX, 0, 0],
        Err(Failure { at, reason, stay }) => [at as i32, reason, stay as i32],
    };
    // SAFETY: the bytes of the three numbers, which a pipe takes at once.
    unsafe { libc::write(end, words.as_ptr().cast(), size_of_val(&words)) };
}

/// What the helper told; it always tells before it ends, unless it is killed too.
fn told(end: libc::c_int) -> Option<Result<(), Failure>> {
    let mut words = [0i32; 3];
    loop {
        // SAFETY: a place for the bytes of three numbers.
        let got = unsafe { libc::read(end, words.as_mut_ptr().cast(), size_of_val(&words)) };
        if got < 0 && last_error() == libc::EINTR {
            continue;
        }
        if got != size_of_val(&words) as isize {
            return None;
        }
        return Some(match words {
            [i32::MAX, ..] => Ok(()),
            [at, reason, stay] => Err(Failure { at: at as usize, reason, stay: stay as usize }),
        });
    }
}

/// Wait until the helper has ended.
fn wait(child: libc::pid_t) {
    let mut status = 0;
    // SAFETY: `status` is a place for the status.
    while unsafe { libc::waitpid(child, &raw mut status, 0) } == -1 && last_error() == libc::EINTR {}
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
        unlink(&step.name);
    }
}

fn last_error() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::{AtomicFile, CompleteFile, appear_together};
    use std::fs;
    use std::io::Write;
    use std::path::Path;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).expect("a directory");
        let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
        let mut names: Vec<String> =
            entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn begun(path: &Path) -> CompleteFile {
        let mut file = AtomicFile::create(path).expect("a place to write");
        file.write_all(b"new").expect("space");
        file.complete().expect("a complete file")
    }

    #[test]
    fn a_move_that_fails_undoes_those_before_it() {
        let directory = tempfile::tempdir().unwrap();
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| directory.path().join(name));
        fs::write(&a, b"old").unwrap();
        fs::write(&d, b"old").unwrap();
        let files: Vec<CompleteFile> = [&a, &b, &c, &d].map(|path| begun(path)).into();
        // Something that no file can replace takes the third place in the meantime.
        fs::create_dir(&c).unwrap();
        let told = appear_together(files).unwrap_err().to_string();
        assert!(told.contains("cannot write") && told.contains("Is a directory"), "{told}");
        assert_eq!(names(directory.path()), ["a", "c", "d"]);
        assert_eq!((fs::read(&a).unwrap(), fs::read(&d).unwrap()), (b"old".to_vec(), b"old".to_vec()));
        fs::remove_dir(&c).unwrap();
        appear_together([&a, &b, &c, &d].map(|path| begun(path)).into()).unwrap();
        assert_eq!(names(directory.path()), ["a", "b", "c", "d"]);
        assert!([&a, &b, &c, &d].iter().all(|path| fs::read(path).unwrap() == b"new"));
    }

    #[test]
    fn what_cannot_come_back_is_said() {
        let directory = tempfile::tempdir().unwrap();
        let [a, b] = ["a", "b"].map(|name| directory.path().join(name));
        fs::write(&a, b"old").unwrap();
        let text = |path: &Path| CString::new(path.to_str().unwrap()).unwrap();
        for name in ["new a", "new b"] {
            fs::write(directory.path().join(name), b"new").unwrap();
        }
        fs::create_dir(&b).unwrap();
        // The second name of the old file would be in a directory that does not exist, as if there could be none.
        let nowhere = directory.path().join("nowhere").join("old");
        let step = |from: &str, to: &Path, old: Option<&Path>| Move {
            handle: None,
            name: text(&directory.path().join(from)),
            target: text(to),
            old: old.map(text),
        };
        let moves = [step("new a", &a, Some(&nowhere)), step("new b", &b, None)];
        assert_eq!(by_helper(&moves), Some(Err(Failure { at: 1, reason: libc::EISDIR, stay: 1 })));
    }
}
