internal import Attache

/// The detail of one of Google's errors, beside its error code.
enum GoogleErrorDetail: Hashable {
  /// `google.rpc.BadRequest`: the path of the wrong field, empty for none, and what is wrong with it.
  case field(String, description: String)
  /// `google.rpc.ErrorInfo`: a reason, and the service that gives it.
  case reason(String, domain: String)
}

/// The form of Google's errors.
///
/// Sources: https://cloud.google.com/apis/design/errors#http_mapping,
/// https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode
enum GoogleError {
  /// Returns the body of an answer. An error without an error code and other detail has no `details`.
  static func body(of refusal: PushRefusal) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("error")
    writer.beginObject()
    writer.key("code")
    writer.integer(refusal.status)
    writer.key("message")
    writer.string(refusal.message ?? message(of: refusal))
    writer.key("status")
    writer.string(name(of: refusal.status))
    if refusal.reason != nil || refusal.detail != nil { write(refusal, to: &writer) }
    writer.endObject()
    writer.endObject()
    return writer.bytes
  }

  private static func write(_ refusal: PushRefusal, to writer: inout JSONWriter) {
    writer.key("details")
    writer.beginArray()
    if let code = refusal.reason { write("google.firebase.fcm.v1.FcmError", [("errorCode", code)], to: &writer) }
    switch refusal.detail {
    case .field(let field, let description):
      writer.beginObject()
      write([("@type", "type.googleapis.com/google.rpc.BadRequest")], to: &writer)
      writer.key("fieldViolations")
      writer.beginArray()
      writer.beginObject()
      write(field.isEmpty ? [("description", description)] : [("field", field), ("description", description)], to: &writer)
      writer.endObject()
      writer.endArray()
      writer.endObject()
    case .reason(let reason, let domain): write("google.rpc.ErrorInfo", [("reason", reason), ("domain", domain)], to: &writer)
    case nil: break
    }
    writer.endArray()
  }

  private static func write(_ type: String, _ members: [(String, String)], to writer: inout JSONWriter) {
    writer.beginObject()
    write([("@type", "type.googleapis.com/\(type)")] + members, to: &writer)
    writer.endObject()
  }

  private static func write(_ members: [(String, String)], to writer: inout JSONWriter) {
    for (name, value) in members {
      writer.key(name)
      writer.string(value)
    }
  }

  /// Returns the name of the status (`google.rpc.Code`).
  private static func name(of status: Int) -> String {
    switch status {
    case 400: "INVALID_ARGUMENT"
    case 401: "UNAUTHENTICATED"
    case 403: "PERMISSION_DENIED"
    case 404: "NOT_FOUND"
    case 429: "RESOURCE_EXHAUSTED"
    case 500: "INTERNAL"
    case 503: "UNAVAILABLE"
    default: "UNKNOWN"
    }
  }

  /// Returns the sentence that the service usually sends.
  private static func message(of refusal: PushRefusal) -> String {
    switch refusal.reason {
    case "INVALID_ARGUMENT": return "Request contains an invalid argument."
    case "SENDER_ID_MISMATCH": return "SenderId mismatch"
    case "QUOTA_EXCEEDED": return "Quota exceeded."
    case "THIRD_PARTY_AUTH_ERROR": return "Auth error from APNS or Web Push Service"
    default: break
    }
    switch refusal.status {
    case 401: return "Request had invalid authentication credentials. Expected OAuth 2 access token."
    case 403: return "The caller does not have permission"
    case 404: return "Requested entity was not found."
    case 405: return "The method is not allowed."
    case 429: return "Resource has been exhausted (e.g. check quota)."
    case 500: return "Internal error encountered."
    case 503: return "The service is currently unavailable."
    default: return "The request was refused."
    }
  }
}
