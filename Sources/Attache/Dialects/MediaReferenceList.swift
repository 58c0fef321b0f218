/// The media that a payload names, in the order in which they are read: the first ``maximum`` URLs,
/// each once, and how many references were left out.
struct MediaReferenceList {
  /// The most references that are kept of one payload. APNs takes 4,096 bytes, so that 64
  /// references have 64 bytes each, keys and quotes included; a line of 1 MiB has room for 139,760.
  static let maximum = 64

  private var kept: [MediaReference] = []
  private var isFull = false
  private var omitted = 0
  /// How often ``add(_:_:)`` was called.
  private(set) var offered = 0
  /// How many references were added, those that were left out and those whose URL came before
  /// included.
  private(set) var count = 0
  /// How many of them were attachments.
  private(set) var attachmentCount = 0

  /// Adds a reference; when the list is full, it is only counted and `make` is not called.
  ///
  /// - Parameter make: reads the reference; nil is none.
  mutating func add(_ role: MediaReference.Role, _ make: () -> MediaReference?) {
    offered += 1
    if isFull {
      omitted += 1
    } else {
      guard let reference = make() else { return }
      kept.append(reference)
      if kept.count == 2 * Self.maximum { dropRepeated() }
    }
    count += 1
    if role == .attachment { attachmentCount += 1 }
  }

  /// The references, and how many more there are. A URL that is named again behind a full list
  /// counts again.
  var bounded: (references: [MediaReference], omitted: Int) {
    let distinct = kept.distinct
    guard distinct.count > Self.maximum else { return (distinct, omitted) }
    return (Array(distinct.prefix(Self.maximum)), omitted + distinct.count - Self.maximum)
  }

  /// Makes room: the list is full when as many URLs are left as are kept.
  private mutating func dropRepeated() {
    kept = kept.distinct
    isFull = kept.count >= Self.maximum
  }
}
