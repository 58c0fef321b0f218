internal import ArgumentParser
package import Attache

/// The largest file of each kind: `image=10MB,audio=5MB,video=50MB`. A kind that is not named keeps
/// Apple's limit.
package struct LimitsArgument: ExpressibleByArgument, CustomStringConvertible {
  package var limits = MediaLimits()

  package init() {}

  package var description: String {
    "image=\(limits.image),audio=\(limits.audio),video=\(limits.video)"
  }

  package init?(argument: String) {
    for part in argument.split(separator: ",", omittingEmptySubsequences: false) {
      let pair = part.split(separator: "=", maxSplits: 1)
      guard pair.count == 2, let kind = MediaKind(rawValue: String(pair[0])), let size = ByteCountArgument(argument: String(pair[1])) else {
        return nil
      }
      switch kind {
      case .image: limits.image = Int(size.bytes)
      case .audio: limits.audio = Int(size.bytes)
      case .video: limits.video = Int(size.bytes)
      }
    }
  }

  package static var allValueStrings: [String] { [] }
}
