internal import CFetcherProbe
internal import CSandbox
import Foundation
import Testing

@testable import Attache

/// What the kernel lets each of the four confined processes do, asked from inside such a process.
@Suite struct SandboxTests {
  /// A column of SECURITY.md's table of calls.
  private enum Column: String, CaseIterable {
    case fetcher, uploader, detector, converter

    var profile: sandbox_profile {
      switch self {
      case .fetcher: sandbox_fetcher
      case .uploader: sandbox_uploader
      case .detector: sandbox_detector
      case .converter: sandbox_converter
      }
    }
  }

  @Test func `each process may make the calls of SECURITY's table, and no other`() throws {
    let table = try Self.table()
    let numbers = Self.numbers
    let last = try #require(numbers.values.max(), "install the kernel's headers (linux-libc-dev)")
    // Newer kernels have calls that these headers do not know.
    let all = (0...(last + 64)).filter { !Self.unfiltered.contains($0) }
    let names = Dictionary(uniqueKeysWithValues: numbers.map { ($1, $0) })
    for column in Column.allCases {
      // No argument makes a call permitted that the table does not list.
      let calls =
        all.flatMap { number in [Int64(0), -1].map { Self.call(number, .init(repeating: $0, count: 6)) } } + Self.permitted.map(\.call)
      let verdicts = try Self.ask(column, calls)
      var (allowed, checked) = (Set<String>(), Set<String>())
      for number in all {
        let own = zip(calls, verdicts).filter { $0.0.number == number }.map(\.1)
        guard own.contains(probe_allowed) else { continue }
        let name = names[number] ?? "\(number)"
        if own.contains(probe_refused) { checked.insert(name) } else { allowed.insert(name) }
      }
      // A call that only other machines have is in the table, too.
      let listed = table.filter { numbers[$0.name] != nil }
      #expect(allowed == Set(listed.filter { $0.cells[column.rawValue] == "yes" }.map(\.name)), "\(column)")
      #expect(checked == Set(listed.filter { $0.cells[column.rawValue] == "some" }.map(\.name)), "\(column)")
    }
  }

  #if arch(x86_64)
    /// uretprobe and uprobe (Linux 6.11 and 6.18), which no filter sees. The kernel ends a process that
    /// calls one from elsewhere than its trampoline.
    private static let unfiltered = [335, 336]
  #else
    private static let unfiltered: [Int] = []
  #endif

  @Test func `arguments are looked at where they matter`() throws {
    for (cases, verdict) in [(Self.permitted, probe_allowed), (Self.refused, probe_refused)] {
      for column in Column.allCases {
        let own = cases.filter { $0.columns.contains(column) }
        let verdicts = try Self.ask(column, own.map(\.call))
        for (item, answer) in zip(own, verdicts) { #expect(answer == verdict, "\(column): \(item.name)") }
      }
    }
  }

  #if arch(x86_64)
    @Test(arguments: [true, false]) func `a call of another architecture ends the process`(isX32: Bool) {
      // Without emulation of i386, the kernel answers with SIGSEGV.
      #expect([SIGSYS, SIGSEGV].contains(probe_foreign_call(isX32)))
    }
  #endif

  /// What a fetcher may change outside its store where Landlock is missing: seccomp sees no paths.
  private static let openWithoutLandlock: [probe_change] = [
    change_write, change_read_and_write, change_append_file, change_create, change_create_unnamed, change_rename, change_rename_into_store,
    change_rename_from_store, change_exchange, change_link, change_link_into_store, change_link_of_descriptor, change_unlink,
    change_make_folder,
  ]

  @Test(arguments: [0, 1, 2, .max])
  func `no file outside the store changes, under each version of Landlock`(version: Int) throws {
    let folder = AttachmentStoreTestFolder()
    for name in ["store", "outside"] { folder.makeFolder(name) }
    for column in Column.allCases {
      var results = [Int32](repeating: -1, count: Int(change_count.rawValue))
      let missing = unsafe probe_changes(column.profile, version, "\(folder.path)/store", "\(folder.path)/outside", &results)
      let needed = column == .fetcher ? 2 : 1
      let expected = version < needed ? sandbox_open_files : version < 3 ? sandbox_open_truncation : 0
      try #require(missing == Int32(expected), "this kernel's Landlock is older than Linux 6.2, or it has no seccomp")
      // A process may set the time of a file that it may read and whose user it is, to now.
      var open: Set<UInt32> = column == .fetcher ? [change_times_of_descriptor_to_now.rawValue] : []
      if column == .fetcher, version < needed { open.formUnion(Self.openWithoutLandlock.map(\.rawValue)) }
      for (change, result) in results.enumerated() {
        let name = unsafe String(cString: probe_change_name(probe_change(rawValue: UInt32(change))))
        #expect((result == 0) == open.contains(UInt32(change)), "\(column): \(name): \(result)")
        #expect(result >= 0, "\(column): \(name)")
      }
    }
  }

  @Test(arguments: [0, 1, 2, 3, .max])
  func `what a machine lacks for a fetcher is what a fetcher of it would lack, in the log's words`(landlock: Int) {
    let missing = FetcherBounds.Missing.onThisMachine(landlock: landlock)
    let expected: FetcherBounds.Missing = landlock < 2 ? .files : landlock < 3 ? .truncation : []
    #expect(missing == expected, "this kernel's Landlock is older than Linux 6.2, or it has no seccomp")
    let sentence = missing.notice.map { "\($0)" }
    #expect(sentence == (expected.isEmpty ? nil : "\(FetcherNotice.unconfined(without: "\(expected)"))"))
  }

  // MARK: Calls

  /// A call whose arguments decide.
  private struct Case {
    var name: String
    var columns: Set<Column>
    var call: probe_call
  }

  private static let two: Set<Column> = [.fetcher, .uploader]
  private static let three: Set<Column> = [.fetcher, .uploader, .converter]
  private static let every = Set(Column.allCases)

  private static func call(_ number: Int, _ arguments: [Int64]) -> probe_call {
    var call = probe_call()
    call.number = number
    let all = arguments.map { UInt64(bitPattern: $0) } + [UInt64](repeating: 0, count: 6 - arguments.count)
    call.arguments = (all[0], all[1], all[2], all[3], all[4], all[5])
    return call
  }

  private static func item(_ columns: Set<Column>, _ name: String, _ arguments: [Int64]) -> Case {
    Case(name: "\(name)\(arguments)", columns: columns, call: call(numbers[name] ?? -1, arguments))
  }

  private static let own = Int64(bitPattern: probe_own_process)
  private static let creates = Int64(O_CREAT | O_EXCL | O_WRONLY)
  private static let threadFlags: Int64 = 0x3d0f00

  private static let permitted: [Case] = [
    item(two, "openat", [-100, 0, Int64(O_RDONLY | O_CLOEXEC)]),
    item([.fetcher], "openat", [-100, 0, Int64(O_RDWR)]),
    item([.fetcher], "openat", [-100, 0, creates, 0o666]),
    // Without O_CREAT, the mode is not one.
    item(two, "openat", [-100, 0, 0, 0o4777]),
    item([.fetcher], "utimensat", [5, 0, 0, 0]),
    item([.fetcher], "unlinkat", [5, 0, 0]),
    item(three, "clone", [threadFlags]),
    item(three, "prctl", [15]),
    item([.fetcher], "seccomp", [1, 1]),
    item(every, "tgkill", [own, 1, Int64(SIGABRT)]),
    item(three, "prlimit64", [own, 7, 0, 1]),
    item(two, "fcntl", [5, Int64(F_SETLK)]),
    item(two, "fcntl", [5, Int64(F_DUPFD_CLOEXEC)]),
    item(two, "ioctl", [5, 0x541b]),
    item(two, "socket", [Int64(AF_INET), 1 | 0o4000, 6]),
    item(two, "socket", [Int64(AF_INET6), 2, 0]),
    item(two, "socketpair", [Int64(AF_UNIX), 1, 0]),
    item(two, "setsockopt", [5, 6, 1]),
    item(two, "setsockopt", [5, 41, 26]),
    item(every, "mmap", [0, 4096, Int64(PROT_READ | PROT_WRITE)]),
    item([.converter], "mmap", [0, 4096, Int64(PROT_READ | PROT_EXEC)]),
    // The C library's allocator, and SQLite's index of a log.
    item(every, "mmap", [0, 4096, Int64(PROT_READ | PROT_WRITE), Int64(MAP_PRIVATE | MAP_ANONYMOUS), -1]),
    item(every, "mmap", [0, 4096, Int64(PROT_READ | PROT_WRITE), Int64(MAP_SHARED), 5]),
    // MAP_DROPPABLE, for the C library's random numbers.
    item(every, "mmap", [0, 4096, Int64(PROT_READ | PROT_WRITE), Int64(8 | MAP_ANONYMOUS), -1]),
    item([.converter], "mmap", [0, 4096, Int64(PROT_READ | PROT_EXEC), Int64(MAP_PRIVATE | MAP_ANONYMOUS), -1]),
    item(every, "mprotect", [0, 4096, Int64(PROT_READ | PROT_WRITE)]),
    item([.detector, .converter], "mprotect", [0, 4096, Int64(PROT_READ)]),
    item(every, "madvise", [0, 4096, 4]),
  ]

  private static let refused: [Case] = [
    item(two, "openat", [-100, 0, Int64(O_RDONLY | O_TRUNC)]),
    item(two, "openat", [-100, 0, Int64(O_WRONLY | O_TRUNC)]),
    item(two, "openat", [-100, 0, Int64(O_ACCMODE)]),
    item([.uploader], "openat", [-100, 0, Int64(O_WRONLY)]),
    item([.uploader], "openat", [-100, 0, Int64(O_RDWR)]),
    item([.uploader], "openat", [-100, 0, Int64(O_CREAT)]),
    item([.fetcher], "openat", [-100, 0, creates, 0o4644]),
    item([.fetcher], "openat", [-100, 0, creates, 0o2644]),
    item([.fetcher], "openat", [-100, 0, creates, 0o755]),
    // O_TMPFILE
    item([.fetcher], "openat", [-100, 0, 0o20200001, 0o755]),
    item([.fetcher], "utimensat", [5, 1 << 32, 0, 0]),
    item([.fetcher], "utimensat", [5, 1, 0, 0]),
    item([.fetcher], "utimensat", [5, 0, 1, 0]),
    item([.fetcher], "unlinkat", [5, 0, Int64(AT_REMOVEDIR)]),
    // fork(2), vfork(2), and threads in new namespaces.
    item(three, "clone", [Int64(SIGCHLD)]),
    item(three, "clone", [0x4111]),
    item(three, "clone", [0x1200011]),
    item(three, "clone", [threadFlags | 0x2000_0000]),
    item(three, "clone", [threadFlags | 0x1000_0000]),
    item(three, "clone", [threadFlags | 0x2_0000]),
    item(three, "prctl", [4]),
    item(three, "prctl", [22]),
    item(three, "prctl", [47]),
    // SECCOMP_FILTER_FLAG_NEW_LISTENER
    item([.fetcher], "seccomp", [1, 9]),
    item(every, "tgkill", [1, 1, 9]),
    item(every, "tgkill", [-1, 1, 9]),
    item(three, "prlimit64", [1, 7, 0, 1]),
    item(three, "prlimit64", [0, 7, 1, 0]),
    item(three, "prlimit64", [0, 7, 1 << 32, 0]),
    // F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE, F_NOTIFY, F_SETPIPE_SZ, F_ADD_SEALS, F_SET_RW_HINT.
    item(two, "fcntl", [5, 8]), item(two, "fcntl", [5, 10]), item(two, "fcntl", [5, 15]),
    item(two, "fcntl", [5, 1024]), item(two, "fcntl", [5, 1026]), item(two, "fcntl", [5, 1031]),
    item(two, "fcntl", [5, 1033]), item(two, "fcntl", [5, 1036]),
    // TIOCSTI, TIOCLINUX, FIOSETOWN, SIOCSPGRP, FS_IOC_SETFLAGS, FICLONE.
    item(two, "ioctl", [0, 0x5412]), item(two, "ioctl", [0, 0x541c]), item(two, "ioctl", [5, 0x8901]),
    item(two, "ioctl", [5, 0x8902]), item(two, "ioctl", [5, 0x4008_6602]), item(two, "ioctl", [5, 0x4004_9409]),
    // Unix, netlink, packet, raw, VM sockets, SCTP and MPTCP.
    item(two, "socket", [1, 1, 0]), item(two, "socket", [16, 3, 0]), item(two, "socket", [17, 3, 0]),
    item(two, "socket", [2, 3, 1]), item(two, "socket", [40, 1, 0]), item(two, "socket", [2, 1, 132]),
    item(two, "socket", [2, 1, 262]), item(two, "socket", [38, 5, 0]),
    item(two, "socketpair", [1, 2, 0]), item(two, "socketpair", [1, 5, 0]),
    // SO_ATTACH_FILTER, SO_ATTACH_BPF, SO_BINDTODEVICE, TCP_ULP, TCP_REPAIR, IPT_SO_SET_REPLACE.
    item(two, "setsockopt", [5, 1, 26]), item(two, "setsockopt", [5, 1, 50]),
    item(two, "setsockopt", [5, 1, 25]), item(two, "setsockopt", [5, 6, 31]),
    item(two, "setsockopt", [5, 6, 19]), item(two, "setsockopt", [5, 0, 64]),
    item([.fetcher, .uploader, .detector], "mmap", [0, 4096, Int64(PROT_READ | PROT_EXEC)]),
    item([.fetcher, .uploader, .detector], "mmap", [0, 4096, Int64(PROT_READ | PROT_EXEC), Int64(MAP_PRIVATE | MAP_ANONYMOUS), -1]),
    // MAP_SHARED, MAP_SHARED_VALIDATE and MAP_GROWSDOWN.
    item(every, "mmap", [0, 4096, Int64(PROT_READ | PROT_WRITE), Int64(MAP_SHARED | MAP_ANONYMOUS), -1]),
    item(every, "mmap", [0, 4096, Int64(PROT_READ | PROT_WRITE), Int64(3 | MAP_ANONYMOUS), -1]),
    item(every, "mmap", [0, 4096, Int64(PROT_READ | PROT_WRITE), Int64(MAP_SHARED | MAP_ANONYMOUS | 0x4000), -1]),
    item(every, "mmap", [0, 4096, Int64(PROT_READ | PROT_WRITE), Int64(MAP_PRIVATE | MAP_ANONYMOUS | 0x100), -1]),
    item(every, "mprotect", [0, 4096, Int64(PROT_READ | PROT_EXEC)]),
    item(every, "mprotect", [0, 4096, Int64(PROT_READ | PROT_WRITE | PROT_EXEC)]),
    item(two, "mprotect", [0, 4096, Int64(PROT_READ)]), item(two, "mprotect", [0, 4096, Int64(PROT_NONE)]),
    // MADV_MERGEABLE, MADV_HWPOISON.
    item(every, "madvise", [0, 4096, 12]), item(every, "madvise", [0, 4096, 100]),
  ]

  private static func ask(_ column: Column, _ calls: [probe_call]) throws -> [probe_verdict] {
    var verdicts = [probe_verdict](repeating: probe_not_asked, count: calls.count)
    try #require(unsafe probe_filter(column.profile, calls, calls.count, &verdicts), "this kernel has no seccomp")
    return verdicts
  }

  // MARK: Names

  private struct Row {
    var name: String
    var cells: [String: String]
  }

  /// The rows of SECURITY.md's table of calls: several calls share a row.
  private static func table() throws -> [Row] {
    let text = try String(
      contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../SECURITY.md"), encoding: .utf8)
    let lines = text.split(separator: "\n").drop { !$0.hasPrefix("| system calls | fetcher | uploader | detector | converter |") }
    return lines.dropFirst(2).prefix { $0.hasPrefix("|") }.flatMap { line in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      let names = cells[0].matches(of: #/`([a-z0-9_]+)`/#).map { String($0.1) }
      let columns = Dictionary(uniqueKeysWithValues: zip(Column.allCases.map(\.rawValue), cells.dropFirst()))
      return names.map { Row(name: $0, cells: columns) }
    }
  }

  /// The numbers of the kernel's headers, by name.
  private static let numbers: [String: Int] = {
    #if arch(x86_64)
      let header = "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"
    #else
      let header = "/usr/include/asm-generic/unistd.h"
    #endif
    let text = (try? String(contentsOfFile: header, encoding: .utf8)) ?? ""
    let pairs = text.matches(of: #/#define __NR(?:3264)?_(\w+) (\d+)/#).compactMap { match in Int(match.2).map { (String(match.1), $0) } }
    return Dictionary(pairs) { first, _ in first }
  }()
}
