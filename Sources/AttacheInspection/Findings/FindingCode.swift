internal import Attache

/// All problems that `attache lint` can find. The raw value is the code, which is stable; its first
/// part names the family.
package enum FindingCode: String, CaseIterable, Sendable {
  case payloadJSON = "payload.json"
  case payloadSize = "payload.size"
  case envelopeUnopened = "envelope.unopened"
  case envelopeSpelling = "envelope.spelling"
  case pushTypeConflict = "push-type.conflict"

  case mutableOutside = "mutable-content.outside"
  case mutableValue = "mutable-content.value"
  case mutableBoolean = "mutable-content.boolean"
  case mutableMissing = "mutable-content.missing"
  case mutableAlert = "mutable-content.alert"

  case contentAvailableValue = "content-available.value"
  case contentAvailableBoolean = "content-available.boolean"
  case contentAvailableAlert = "content-available.alert"
  case silentSound = "silent.sound"
  case silentBadge = "silent.badge"
  case silentPriority = "silent.priority"
  case silentRate = "silent.rate"

  case apsMissing = "aps.missing"
  case apsAlert = "aps.alert"
  case apsUnknown = "aps.unknown"
  case apsSound = "aps.sound"
  case apsBadge = "aps.badge"
  case apsCategory = "aps.category"
  case apsMedia = "aps.media"
  case categoryUnknown = "category.unknown"

  case urlHTTP = "url.http"
  case urlHTTPS = "url.https"
  case urlRelative = "url.relative"
  case urlRefused = "url.refused"

  case mediaMany = "media.many"
  case mediaForm = "media.form"
  case mediaUnread = "media.unread"

  case typeUnguessable = "type.unguessable"
  case typeContradiction = "type.contradiction"
  case typeHint = "type.hint"

  case actionsMany = "actions.many"
  case actionsLimited = "actions.limited"

  /// The severity of a finding.
  package enum Severity: String, CaseIterable, Sendable {
    /// The push does not have the effect that it asks for.
    case error
    /// The push has the effect only under conditions, or has additional effects.
    case warning
    /// Information only.
    case note
  }
}
