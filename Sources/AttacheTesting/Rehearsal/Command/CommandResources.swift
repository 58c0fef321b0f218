internal import Glibc

/// The most that one process of a group was seen to hold at a time, by what /proc says.
struct CommandResources: Sendable, Hashable {
  /// Bytes of the largest resident set.
  var memory = 0
  var descriptors = 0

  /// Looks at every process of the group.
  mutating func look(at group: pid_t) {
    for process in CommandProcess.all(in: group) {
      descriptors = max(descriptors, process.descriptors)
      memory = max(memory, process.peakMemory)
    }
  }
}
