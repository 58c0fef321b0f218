internal import CFetcherProbe
import Glibc
import Testing

@testable import Attache

/// The limits that the kernel enforces for a fetcher process, tested by a confined process.
@Suite struct FetcherBoundsTests {
  private static let permitted: [probe] = [
    probe_make_folder, probe_write_file, probe_move_file, probe_remove_file, probe_read_readable, probe_connect_ipv4, probe_connect_ipv6,
    probe_datagrams, probe_stream_pair, probe_signal_itself, probe_thread, probe_little_memory,
  ]
  private static let refused: [(probe, Int32)] = [
    (probe_read_beside, EACCES), (probe_write_readable, EACCES), (probe_read_other, EACCES), (probe_write_other, EACCES),
    (probe_list_other, EACCES), (probe_remove_folder, EPERM), (probe_move_folder, EACCES),
    (probe_raw_socket, EPERM), (probe_multipath, EPERM), (probe_unix_socket, EPERM), (probe_datagram_pair, EPERM),
    (probe_message_pair, EPERM),
    (probe_netlink_socket, EPERM), (probe_listen, EPERM), (probe_execute, EPERM),
    (probe_trace, EPERM), (probe_signal_parent, EPERM), (probe_signal_by_descriptor, EPERM),
    (probe_schedule_parent, EPERM), (probe_limits_of_parent, EPERM), (probe_new_namespace, EPERM),
    (probe_clone_into_namespace, EPERM), (probe_fork, EPERM), (probe_thread_later, EPERM), (probe_filter_later, EPERM),
    (probe_much_memory, ENOMEM), (probe_hidden_memory, EPERM), (probe_many_descriptors, EINVAL),
    (probe_environment, ENOENT),
  ]

  @Test func `a fetcher does what it is there for, and nothing else`() throws {
    let folder = AttachmentStoreTestFolder()
    for name in ["store", "readable", "other"] { folder.makeFolder(name) }
    for name in ["readable/file", "readable/other", "other/file"] { folder.write([1], to: name) }
    let count = Int(probe_count.rawValue)
    #expect(Self.permitted.count + Self.refused.count == count)
    // A fetcher is forked from a process that may have many threads. Their stacks must not become room for it.
    let held = HeldThread()
    let threads = try (0..<40).map { _ in try Thread.start("held") { held.wait() } }
    defer {
      for _ in threads { held.signal() }
      for thread in threads { thread.join() }
    }
    var results = [Int32](repeating: -1, count: count)
    let missing = unsafe probe_confined("\(folder.path)/store", "\(folder.path)/readable", "\(folder.path)/other", &results)
    try #require(missing == 0, "this kernel has no Landlock or no seccomp")
    for probe in Self.permitted { #expect(results[Int(probe.rawValue)] == 0, "\(probe)") }
    for (probe, error) in Self.refused { #expect(results[Int(probe.rawValue)] == error, "\(probe)") }
  }

  @Test(arguments: [(-5, 1), (1, 1), (256, 256), (10_000, 10_000), (.max, 1 << 16)])
  func `memory and descriptors grow with what may be in flight`(fetches: Int, counted: UInt64) {
    let bounds = FetcherBounds(fetches: fetches)
    #expect(bounds.memory == (128 << 20) + counted * (256 << 10))
    #expect(bounds.descriptors == 128 + 3 * counted)
    #expect(ConnectionBudget(descriptors: Int(bounds.descriptors)).transfers == Int(counted))
  }

  @Test func `what is missing is named with what it leaves open`() {
    #expect("\(FetcherBounds.Missing.files)".hasPrefix("without Landlock (Linux 5.19 or later): it reads and writes"))
    #expect("\(FetcherBounds.Missing.calls)".hasPrefix("without seccomp"))
    #expect("\(FetcherBounds.Missing.capabilities)".hasPrefix("without dropping its capabilities"))
    #expect("\(FetcherBounds.Missing.truncation)".hasSuffix("seccomp refuses truncation instead, so nothing more is open"))
    #expect("\([.calls, .truncation] as FetcherBounds.Missing)".hasSuffix("it empties each file that its user may write"))
  }
}
