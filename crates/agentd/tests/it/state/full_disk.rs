//! A disk that is full: a clear message, nothing half-written, and the same reply resumes when there is space again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::fixture::daemon::eventually;
use crate::fixture::project::Project;
use test_support::skip;

/// A small file system in its own mount namespace, reached through the process that keeps the namespace.
pub(crate) struct SmallDisk {
    keeper: Child,
}

impl SmallDisk {
    /// Makes one of this many bytes and inodes; `None` where this user may not.
    fn new(mount_point: &Path, size: &str) -> Option<SmallDisk> {
        let script = format!(
            "mount -t tmpfs -o size={size},mode=0755 tmpfs '{}' && echo mounted && exec sleep 600",
            mount_point.display()
        );
        // As an ordinary user the namespace of mounts needs one of users around it.
        let mut keeper = Command::new("unshare")
            .args(["--mount", "--map-root-user", "sh", "-c", &script])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut line = String::new();
        let mut output = std::io::BufReader::new(keeper.stdout.take()?);
        std::io::BufRead::read_line(&mut output, &mut line).ok()?;
        if line.trim() == "mounted" {
            return Some(SmallDisk { keeper });
        }
        let _ = keeper.wait();
        None
    }

    /// A path as it is seen inside.
    pub(crate) fn path(&self, path: &Path) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root{}", self.keeper.id(), path.display()))
    }

    /// Runs the same command inside.
    pub(crate) fn run(&self, command: &Command) -> crate::fixture::project::Ran {
        let mut inside = Command::new("nsenter");
        inside.args([
            "--preserve-credentials",
            "--user",
            "--mount",
            "--target",
            &self.keeper.id().to_string(),
        ]);
        inside.arg("--").arg(command.get_program()).args(command.get_args());
        inside.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        inside.current_dir(command.get_current_dir().unwrap()).stdin(Stdio::null());
        // The mount is only there for what looks up the folder inside.
        let folder = command.get_current_dir().unwrap();
        inside.arg("--workspace").arg(folder);
        crate::fixture::project::Ran::of(inside.output().unwrap())
    }

    /// Fills what is left, and returns the file that does.
    pub(crate) fn fill(&self, folder: &Path) -> PathBuf {
        let file = self.path(folder).join("ballast");
        let mut size = 1 << 22;
        let mut ballast = fs::File::create(&file).unwrap();
        while size >= 512 {
            if std::io::Write::write_all(&mut ballast, &vec![0; size]).is_err() {
                size /= 2;
            }
        }
        file
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = self.keeper.kill();
        let _ = self.keeper.wait();
    }
}

/// A small disk, or why there is none; in CI there has to be one.
pub(crate) fn small_disk(test: &str, mount_point: &Path, size: &str) -> Option<SmallDisk> {
    let disk = SmallDisk::new(mount_point, size);
    if disk.is_none() {
        skip(test, "no tmpfs can be mounted in a namespace here");
    }
    disk
}

const REPLY: &str = "[CREATE_FILE path=\"made.txt\"]\nmade\n[/CREATE_FILE]\n\
     [RUN_COMMAND]\necho once >> ran.log\n[/RUN_COMMAND]\n[READ_FILE path=\"made.txt\"]\n";

#[test]
fn with_the_state_folder_on_a_full_tmpfs_the_same_reply_goes_on_after_space_is_freed() {
    let outer = Project::new();
    let mount_point = outer.folder().join("disk");
    fs::create_dir(&mount_point).unwrap();
    let test = "with_the_state_folder_on_a_full_tmpfs_the_same_reply_goes_on_after_space_is_freed";
    let Some(disk) = small_disk(test, &mount_point, "4m") else { return };
    let project = Project::with_base(&mount_point.join("state"));
    let started = disk.run(&project.command(&["new", "--no-wait", "--json", "fill the disk"])).ok().json();
    let id = started["session"].as_str().unwrap().to_owned();
    let file = project.reply_file(REPLY);
    let apply = || project.command(&["apply".as_ref(), file.as_os_str()]);

    let ballast = disk.fill(&mount_point);
    let ran = disk.run(&apply()).exits(1);
    assert!(ran.stderr.contains("no space is left") || ran.stderr.contains("the disk is full"), "{ran}");
    let ran = disk.run(&apply()).exits(1);
    assert!(ran.stderr.contains("space"), "{ran}");

    fs::remove_file(ballast).unwrap();
    disk.run(&apply()).ok().prints("[OK] CREATE_FILE").prints("[OK] RUN_COMMAND");
    assert_eq!(project.read("ran.log"), "once\n");
    assert_eq!(project.read("made.txt"), "made\n");
    let session = disk.path(&mount_point).join("state/sessions").join(format!("{id}.json"));
    eventually("the session is written", || {
        fs::read_to_string(&session).is_ok_and(|text| text.contains("\"sequenceNumber\": 2"))
    });
    disk.run(&apply()).exits(4).says("already executed as the answer to message 1");
    assert_eq!(project.read("ran.log"), "once\n");
}

#[test]
fn with_the_workspace_on_a_full_tmpfs_files_stay_whole_and_the_session_goes_on() {
    let project = Project::with_base_outside();
    let test = "with_the_workspace_on_a_full_tmpfs_files_stay_whole_and_the_session_goes_on";
    let Some(disk) = small_disk(test, &project.workspace(), "1m") else { return };
    let inside = disk.path(&project.workspace());
    let kept = "kept as it was\n".repeat(4_000);
    fs::write(inside.join("large.txt"), &kept).unwrap();
    disk.run(&project.command(&["new", "--no-wait", "fill the disk"])).ok();
    let ballast = disk.fill(&project.workspace());

    let body = "larger than what is left\n".repeat(8_000);
    let reply =
        format!("[CREATE_FILE path=\"large.txt\"]\n{body}[/CREATE_FILE]\n[READ_FILE path=\"large.txt\"]\n");
    let file = project.reply_file(&reply);
    let ran = disk.run(&project.command(&["apply".as_ref(), file.as_os_str()])).ok();
    let ran = ran.prints("[FAILED] CREATE_FILE: Failed to create 'large.txt': no space is left");
    ran.prints("[OK] READ_FILE");
    assert_eq!(fs::read_to_string(inside.join("large.txt")).unwrap(), kept);
    let names = fs::read_dir(&inside).unwrap().count();
    assert_eq!(names, 2, "something half-written was left");

    fs::remove_file(ballast).unwrap();
    // The model reads the failure and sends the block again, now as the answer to another message.
    let file = project.reply_file(format!("Once more:\n{reply}"));
    disk.run(&project.command(&["apply".as_ref(), file.as_os_str()])).ok().prints("[OK] CREATE_FILE");
    assert_eq!(fs::read_to_string(inside.join("large.txt")).unwrap(), body);
}
