/// The media that a payload names, in reading order: the first ``maximum`` distinct URLs, and the
/// number of references that were left out.
package struct MediaReferenceList {
  /// The maximum number of references kept per payload. APNs accepts 4,096 bytes, so 64 references
  /// have 64 bytes each, including keys and quotes. A line of 1 MiB has room for 139,760.
  package static let maximum = 64

  private var kept: [MediaReference] = []
  /// References that are not followed, each with its misfit.
  private var ignored: [MediaReference] = []
  /// Where the URLs of attachments were read, if the caller asked for it. A URL may have several
  /// sites.
  private(set) var sites: [MediaSite] = []
  private var isFull = false
  private var omitted = 0
  /// The number of calls of ``add(_:_:)``.
  private(set) var offered = 0
  /// The number of references added, including those left out and those with a repeated URL.
  private(set) var count = 0
  /// The number of attachments among them.
  private(set) var attachmentCount = 0

  /// Adds a reference. If the list is full, only counts it and does not call `make`.
  ///
  /// - Parameter make: reads the reference; returns nil if there is none.
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

  /// Adds sites, up to ``MediaSite/maximum``.
  mutating func add(_ sites: [MediaSite]) {
    self.sites += sites.prefix(MediaSite.maximum - self.sites.count)
  }

  /// Adds a reference that is not followed, and that no other reference replaces.
  mutating func addIgnored(_ reference: MediaReference) {
    if ignored.count < Self.maximum { ignored.append(reference) }
  }

  /// The references, and the number of those left out. A URL that is repeated after the list is
  /// full counts again.
  var bounded: (references: [MediaReference], omitted: Int) {
    let distinct = ignored.isEmpty ? kept.distinct : (kept + ignored).distinct
    guard distinct.count > Self.maximum else { return (distinct, omitted) }
    return (Array(distinct.prefix(Self.maximum)), omitted + distinct.count - Self.maximum)
  }

  /// Removes repeated URLs. The list is full if the maximum number of URLs remains.
  private mutating func dropRepeated() {
    kept = kept.distinct
    isFull = kept.count >= Self.maximum
  }
}

extension [MediaReference] {
  /// The references without repetitions of a URL; the first of each is kept. A picture that is both
  /// the sender's and an attachment counts as two.
  var distinct: [MediaReference] {
    guard count > 1 else { return self }
    var keys: Set<Key> = []
    return filter { keys.insert(Key(url: $0.url, role: $0.role)).inserted }
  }
}

private struct Key: Hashable {
  let url: UntrustedText
  let role: MediaReference.Role
}
