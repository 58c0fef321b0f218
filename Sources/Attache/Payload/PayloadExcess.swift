/// The sizes of a payload that exceeds its limit, in bytes.
package struct PayloadExcess: Hashable, Sendable {
  /// With its attachments.
  let size: Int
  /// Without them.
  let before: Int
  let maximum: Int
  /// Whether the attachments are in a member of their own.
  let hasMember: Bool

  /// What is too large, and what to do.
  var text: String {
    let (accepted, reserve) = (LineOpener.maximumPayload, Envelope.Form.fcm.addedBytes)
    let why = maximum + reserve == accepted ? " (APNs accepts \(accepted), and its service adds up to \(reserve))" : ""
    let limit = "\(maximum)\(why)"
    if before > maximum { return "the payload has \(before) bytes before anything is attached, and may have \(limit); shorten it" }
    let advice = hasMember ? "shorten it, or use --attach-as url, which adds no member" : "shorten it, or the address of --base-url"
    return "with its attachments the payload would have \(size) bytes, and may have \(limit); \(advice)"
  }
}
