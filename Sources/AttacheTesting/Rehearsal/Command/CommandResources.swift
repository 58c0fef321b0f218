internal import Glibc

/// The peak resource use of a single process of a group, according to /proc.
struct CommandResources: Sendable, Hashable {
  /// The peak resident set, in bytes.
  var memory = 0
  var descriptors = 0

  /// Updates the peaks from every process of the group.
  mutating func look(at group: pid_t) {
    for process in CommandProcess.all(in: group) {
      descriptors = max(descriptors, process.descriptors)
      memory = max(memory, process.peakMemory)
    }
  }
}
