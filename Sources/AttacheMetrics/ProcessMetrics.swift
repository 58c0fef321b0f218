internal import Attache
internal import Glibc

/// The version of attache, and what the kernel says about this process. Fetchers, converters and
/// senders are other processes.
///
/// Source of the names: https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics
package enum ProcessMetrics {
  /// Writes the metric families. What the kernel does not tell is left out.
  package static func write(version: String, to text: inout MetricsText) {
    text.family("attache_build_info", .gauge, "The version of attache; always 1.")
    text.sample(1, ["version": version])
    if let usage = ProcessUsage(stat) {
      text.family("process_cpu_seconds_total", .counter, "Processor time of this process, in user and in system mode.")
      text.sample(usage.processorTime)
      text.gauge("process_resident_memory_bytes", "Memory of this process that is resident.", usage.residentBytes)
      text.gauge("process_virtual_memory_bytes", "Address space of this process.", usage.virtualBytes)
      text.gauge("process_start_time_seconds", "When this process started, in seconds since 1970.", bootTime + usage.startedAfterBoot)
    }
    if let count = openDescriptors { text.gauge("process_open_fds", "Open file descriptors of this process.", Double(count)) }
    if let limit = descriptorLimit { text.gauge("process_max_fds", "The limit on open file descriptors of this process.", limit) }
  }

  /// One line of about 300 bytes.
  private static var stat: [UInt8] {
    do throws(SystemError) { return try SmallFile.read("/proc/self/stat", maximum: 4_096) ?? [] } catch { return [] }
  }

  /// When the machine was started, in seconds since 1970. It is read once, so that no change of the
  /// clock moves the start of the process.
  private static let bootTime: Double = {
    func seconds(_ clock: clockid_t) -> Double {
      var time = timespec()
      unsafe clock_gettime(clock, &time)
      return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
    return ((seconds(CLOCK_REALTIME) - seconds(CLOCK_BOOTTIME)) * 100).rounded() / 100
  }()

  private static var openDescriptors: Int? {
    let folder = unsafe open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return nil }
    // The descriptor of the folder itself does not count.
    do throws(SystemError) { return try FolderListing.names(closing: folder).count - 1 } catch { return nil }
  }

  private static var descriptorLimit: Double? {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
    return limit.rlim_cur == rlim_t.max ? .infinity : Double(limit.rlim_cur)
  }
}

/// What `/proc/self/stat` says about a process.
///
/// Source: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
struct ProcessUsage {
  /// In seconds.
  let processorTime, startedAfterBoot: Double
  let virtualBytes, residentBytes: Double

  /// - Parameter stat: one line. The process's name, in parentheses, may have any character.
  /// - Returns: nil when it has another form.
  init?(_ stat: [UInt8], ticksPerSecond: Int = sysconf(Int32(_SC_CLK_TCK)), pageSize: Int = sysconf(Int32(_SC_PAGESIZE))) {
    guard let name = stat.lastIndex(of: UInt8(ascii: ")")), ticksPerSecond > 0 else { return nil }
    let fields = stat[(name + 1)...].split(separator: UInt8(ascii: " ")).map { Double(String(decoding: $0, as: UTF8.self)) }
    // The manual numbers the fields from 1; the first after the name is the third.
    func field(_ number: Int) -> Double? { fields.count > number - 3 ? fields[number - 3] : nil }
    guard let user = field(14), let system = field(15), let start = field(22), let size = field(23), let pages = field(24) else {
      return nil
    }
    (processorTime, startedAfterBoot) = ((user + system) / Double(ticksPerSecond), start / Double(ticksPerSecond))
    (virtualBytes, residentBytes) = (size, pages * Double(pageSize))
  }
}
