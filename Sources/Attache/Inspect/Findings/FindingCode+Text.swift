extension FindingCode {
  package var severity: Severity {
    switch self {
    case .payloadJSON, .payloadSize, .mutableOutside, .mutableValue, .contentAvailableValue, .silentPriority, .apsMissing, .apsAlert,
      .apsSound, .apsBadge, .apsMedia, .typeHint:
      .error
    case .envelopeUnopened, .mutableMissing, .mutableAlert, .contentAvailableAlert, .silentSound, .silentBadge, .silentRate, .apsUnknown,
      .apsCategory,
      .urlHTTP, .urlHTTPS, .urlRelative, .urlRefused, .mediaMany, .typeUnguessable, .typeContradiction, .actionsMany:
      .warning
    case .mutableBoolean, .contentAvailableBoolean, .actionsLimited: .note
    }
  }

  /// A general description of the problem.
  package var sentence: String {
    switch self {
    case .payloadJSON: "The line is no JSON object."
    case .payloadSize: "The payload is larger than APNs takes: 4,096 bytes, 5,120 for VoIP."
    case .envelopeUnopened: "The line is a push service's envelope that attache does not open."
    case .mutableOutside: "mutable-content stands outside aps, where nobody reads it."
    case .mutableValue: "mutable-content is not the number 1, and no service extension runs."
    case .mutableBoolean: "mutable-content is true, which Apple's frameworks take for 1; documented is the number 1 alone."
    case .mutableMissing: "The payload names media and does not ask for a service extension."
    case .mutableAlert: "mutable-content without alert text has no effect."
    case .contentAvailableValue: "content-available is not the number 1, and the app is not woken."
    case .contentAvailableBoolean: "content-available is true, which Apple's frameworks take for 1; documented is the number 1 alone."
    case .contentAvailableAlert:
      "content-available stands beside an alert: the system may treat the push as a background one and show nothing."
    case .silentSound: "A silent push has a sound."
    case .silentBadge: "A silent push has a badge."
    case .silentPriority: "A silent push has priority 10, which APNs takes for an error."
    case .silentRate: "One device gets more than three silent pushes within an hour; the system holds back or drops the rest."
    case .apsMissing: "aps is missing or no dictionary, and the push does nothing."
    case .apsAlert: "alert is neither a string nor a dictionary with a text that is shown."
    case .apsUnknown: "The key is none of Apple's; APNs ignores custom keys in aps."
    case .apsSound: "sound is neither a string nor a dictionary with a name."
    case .apsBadge: "badge is not a whole number of 0 or more."
    case .apsCategory: "category is empty or no string, and no actions are shown."
    case .apsMedia: "A media URL stands in aps, where APNs ignores custom keys."
    case .urlHTTP: "App Transport Security refuses plain http."
    case .urlHTTPS: "The vendor's helper downloads from https URLs alone."
    case .urlRelative: "The URL is relative, and only the app knows to what."
    case .urlRefused: "attache does not fetch this URL."
    case .mediaMany: "The payload names more than \(MediaReferenceList.maximum) media; attache reads no more."
    case .typeUnguessable: "The URL has no extension from which Apple's frameworks tell the type: it works here and fails on a phone."
    case .typeContradiction: "The payload's hint at the type contradicts the URL's extension."
    case .typeHint: "The vendor's helper downloads nothing without a hint at the type."
    case .actionsMany: "There are more than the ten actions that are shown at most."
    case .actionsLimited: "There are more actions than the four of an iPhone's long look; a banner has two."
    }
  }

  /// The sentence in the form that follows a colon.
  var clause: String {
    let text = sentence.dropLast()
    let isName = text.hasPrefix("App")
    return isName ? String(text) : text.prefix(1).lowercased() + text.dropFirst()
  }

  /// How to fix it.
  package var advice: String {
    switch self {
    case .payloadJSON: "Write one JSON object a line, whole."
    case .payloadSize: "Shorten it; leave out what the app can fetch by itself."
    case .envelopeUnopened: "Write one payload a line, in the form that the service documents."
    case .mutableOutside: "Move it into aps."
    case .mutableValue, .mutableBoolean: "Write \"mutable-content\": 1."
    case .mutableMissing: "Write \"mutable-content\": 1 into aps, or leave the media out."
    case .mutableAlert: "Give alert a title, a subtitle or a body, or leave mutable-content out."
    case .contentAvailableValue, .contentAvailableBoolean: "Write \"content-available\": 1."
    case .contentAvailableAlert: "Send two pushes: the alert, and a silent one."
    case .silentSound: "Leave sound out, or give the push an alert."
    case .silentBadge: "Leave badge out, or give the push an alert."
    case .silentPriority: "Send it with apns-priority 5."
    case .silentRate: "Send two or three an hour at most; let the app fetch several changes at once."
    case .apsMissing: "Write a dictionary aps with what the push is to do; the app's own keys stand beside it."
    case .apsAlert: "Write a text, or a dictionary with a title, a subtitle or a body."
    case .apsUnknown: "Move it beside aps, or correct its name."
    case .apsSound: "Write the name of a sound file, default, or a dictionary with critical, name and volume."
    case .apsBadge: "Write a number; 0 takes the badge away."
    case .apsCategory: "Write the identifier of a category that the app registers, or leave it out."
    case .apsMedia: "Move it beside aps."
    case .urlHTTP, .urlHTTPS: "Serve the media by https."
    case .urlRelative: "Write the whole URL."
    case .urlRefused: "Write a public https URL; the sentence says which flag would allow this one, if any."
    case .mediaMany: "Name the one to ten media that the notification shows."
    case .typeUnguessable: "End the URL's path in .jpg, .png, .gif, .mp4, .mp3 and their like, or give a hint."
    case .typeContradiction: "Let the hint and the extension say the same."
    case .typeHint: "Write the hint beside the URL, as attache dialects shows for the vendor."
    case .actionsMany, .actionsLimited: "Put the most important two first, and leave the rest to the app."
    }
  }

  /// The address of the documentation of the rule.
  package var source: String {
    let notifications = "https://developer.apple.com/documentation/usernotifications/"
    return switch self {
    // For an envelope, the push service's page is used instead.
    case .payloadJSON, .payloadSize, .envelopeUnopened, .apsMissing, .apsAlert, .apsUnknown, .apsSound, .apsBadge, .apsMedia:
      notifications + "generating-a-remote-notification"
    case .mutableOutside, .mutableValue, .mutableBoolean, .mutableMissing, .mutableAlert:
      notifications + "modifying-content-in-newly-delivered-notifications"
    case .contentAvailableValue, .contentAvailableBoolean, .contentAvailableAlert, .silentSound, .silentBadge, .silentRate:
      notifications + "pushing-background-updates-to-your-app"
    case .silentPriority: notifications + "sending-notification-requests-to-apns"
    case .apsCategory, .actionsMany: notifications + "unnotificationcategory"
    case .actionsLimited: "https://developer.apple.com/documentation/uikit/uiusernotificationactioncontext"
    case .urlHTTP: "https://developer.apple.com/documentation/bundleresources/information-property-list/nsapptransportsecurity"
    // If the dialect has a page of its vendor, that page is used instead.
    case .urlHTTPS, .urlRelative, .urlRefused: "https://www.rfc-editor.org/rfc/rfc3986.html"
    case .mediaMany, .typeHint, .typeUnguessable, .typeContradiction: notifications + "unnotificationattachment"
    }
  }
}
