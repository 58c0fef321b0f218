/// The reason why a payload, or one of its media references, was not attached.
///
/// The raw value is the code in the report, in the fixtures and in the manual. Its first part names
/// the family. The family `policy` refuses before any connection to the refused target is made.
public enum Reason: String, CaseIterable, Sendable {
  /// The deadline passed.
  case deadline
  /// attache was told to stop.
  case cancelled

  /// The line is not a JSON object.
  case payloadJSON = "payload.json"
  /// The line is longer than 1 MiB.
  case payloadSize = "payload.size"
  /// The line already has the output member, and was passed on unchanged.
  case payloadEnriched = "payload.enriched"
  /// The line is an envelope of a push service that attache cannot open.
  case payloadEnvelope = "payload.envelope"
  /// The service extension removed the alert text.
  case payloadAlert = "payload.alert"
  /// With its attachments the payload exceeds `--max-payload`.
  case payloadMaximum = "payload.maximum"
  /// The URL of the media has no place of its own in the payload that its public address could
  /// replace.
  case payloadPlace = "payload.place"
  /// The identifier is a path, has more than 1,024 bytes, or contains control characters or marks
  /// that change the direction of writing.
  case payloadIdentifier = "payload.identifier"
  /// A value of the payload that contains a media URL has another type than the vendor's helper reads, or is
  /// not loaded by it (`--strict-dialects`).
  case payloadForm = "payload.form"
  /// The payload asks to load the media only when it is viewed.
  case payloadLazy = "payload.lazy"
  /// The push wakes the app and shows nothing, so no service extension runs for it.
  case payloadSilent = "payload.silent"
  /// The line shows no alert, so no service extension runs for it.
  case payloadNoAlert = "payload.no-alert"
  /// The payload shows an alert and does not ask for a service extension.
  case payloadNotMutable = "payload.not-mutable"
  /// The payload names no media that attache knows, or its service extension attached none.
  case payloadNoMedia = "payload.no-media"
  /// The payload names no media that attache knows, but one of its strings looks like a media URL.
  case payloadUnreadMedia = "payload.unread-media"

  /// The text is not an absolute http(s) URL that every parser reads alike.
  case policyURL = "policy.url"
  /// The scheme is not allowed.
  case policyScheme = "policy.scheme"
  /// The URL has a user name or a password.
  case policyUserinfo = "policy.userinfo"
  /// The host is malformed, not a public name, or denied.
  case policyHost = "policy.host"
  /// The port is not allowed.
  case policyPort = "policy.port"
  /// The address is not public.
  case policyAddress = "policy.address"
  /// A redirect leads from https to http, or to a URL or an address that is refused.
  case policyRedirect = "policy.redirect"
  /// The payload names more media than `--max-attachments`.
  case policyAttachments = "policy.attachments"
  /// The origin has answered nothing for ten seconds, and is asked only now and then.
  case policyBreaker = "policy.breaker"

  /// The name does not exist or has no address.
  case dnsNotFound = "dns.notfound"
  /// The name servers gave no usable answer.
  case dnsFailed = "dns.failed"
  /// The name servers did not answer in time.
  case dnsTimeout = "dns.timeout"

  /// The origin's port refused the connection.
  case connectRefused = "connect.refused"
  /// No connection to the origin could be made.
  case connectFailed = "connect.failed"
  /// The origin closed the connection before a response.
  case connectReset = "connect.reset"
  /// The proxy cannot be reached or declines.
  case connectProxy = "connect.proxy"

  /// The origin's certificate is not valid.
  case tlsCertificate = "tls.certificate"
  /// The origin's certificate is for another name.
  case tlsHost = "tls.host"
  /// The origin offers no safe TLS version (1.2 or later) or cipher.
  case tlsVersion = "tls.version"
  /// The TLS handshake failed.
  case tlsHandshake = "tls.handshake"

  /// The status of the response is not 200.
  case httpStatus = "http.status"
  /// The response is not HTTP.
  case httpProtocol = "http.protocol"
  /// The headers of the response are too many or too long.
  case httpHeaders = "http.headers"
  /// The length or the fields of the response can be read in more than one way.
  case httpFraming = "http.framing"
  /// The response has a registered Content-Encoding, which was not requested.
  case httpEncoding = "http.encoding"
  /// The body ended early, or may have: neither the response nor the file shows its end.
  case httpTruncated = "http.truncated"
  /// More than 5 redirects, a redirect loop, or a redirect without a usable Location.
  case httpRedirect = "http.redirect"

  /// The image is larger than its limit.
  case sizeImage = "size.image"
  /// The audio is larger than its limit.
  case sizeAudio = "size.audio"
  /// The video is larger than its limit.
  case sizeVideo = "size.video"
  /// The file is larger than every limit.
  case sizeLimit = "size.limit"
  /// The file is empty.
  case sizeEmpty = "size.empty"
  /// The picture has more pixels than `--max-pixels`.
  case sizePixels = "size.pixels"

  /// The type of the bytes is unknown.
  case typeUnknown = "type.unknown"
  /// Apple's table does not list the type of the bytes.
  case typeUnsupported = "type.unsupported"
  /// The file is damaged or truncated, according to its own structure.
  case typeBroken = "type.broken"
  /// The type detector crashed on the bytes or took too long.
  case typeDetector = "type.detector"

  /// The picture could not be converted: it is damaged, its decoder crashed, or no size of it is
  /// small enough.
  case convertFailed = "convert.failed"
  /// The conversion of the picture took too long.
  case convertDeadline = "convert.deadline"

  /// The upload of the file to the bucket failed, and may succeed later.
  case uploadFailed = "upload.failed"
  /// The bucket refuses the upload.
  case uploadRefused = "upload.refused"
  /// The origin marks the file as private, or its URL looks signed, so that it is not published.
  case uploadPrivate = "upload.private"

  /// The process that fetched the media ended, and so did the next one.
  case fetchCrashed = "fetch.crashed"

  /// The process of the service extension ended.
  case extensionCrash = "extension.crash"
  /// The process of the service extension used more memory than `--extension-memory`.
  case extensionMemory = "extension.memory"
  /// The service extension attached a file that it may not, or that cannot be read.
  case extensionFile = "extension.file"
  /// The content that the service extension answered cannot be written into the payload.
  case extensionContent = "extension.content"

  /// The store's disk is full.
  case storeFull = "store.full"
  /// The store is not writable.
  case storeReadOnly = "store.readonly"
  /// The store reported another error.
  case storeFailed = "store.failed"

  /// The payload expired (`apns-expiration`) before the queue processed it.
  case queueExpired = "queue.expired"
  /// The payload ended its worker repeatedly, in the end also when processed alone.
  case queuePoison = "queue.poison"
  /// Somebody cancelled the payload while it was in the queue.
  case queueCancelled = "queue.cancelled"

  /// attache or its service extension failed.
  case `internal`

  /// A line that says what happened and what the user can do about it.
  public var advice: String {
    switch self {
    case .deadline: "the deadline passed; raise --deadline or find out why the origin is slow"
    case .cancelled: "attache was told to stop; run the payload again"
    case .payloadJSON: "the line is not a JSON object; correct the producer, or use --strict for exit status 65"
    case .payloadSize: "the line is longer than 1 MiB; APNs accepts 4,096 bytes, so check what the producer writes"
    case .payloadEnriched:
      "the line already has the output member, or with --attach-as url only URLs of the public store, from an earlier run or from its producer, and passes through; check its URLs before you send it"
    case .payloadEnvelope:
      "the line is an envelope of a push service that attache cannot open; the report (member why) and attache inspect say what to correct"
    case .payloadAlert: "the service extension removed the alert text; keep a title, a subtitle or a body"
    case .payloadMaximum:
      "with its attachments the payload would be larger than --max-payload, or than APNs accepts; shorten the payload, or let --fit-payload cut its body; --attach-as url adds no member, so it needs less"
    case .payloadPlace:
      "the URL of the media is not a text of its own in the payload, so no public address can replace it; use --attach-as both or member"
    case .payloadIdentifier:
      "the payload gives the attachment an identifier that is a path, has more than 1,024 bytes, or contains control characters or marks that change the text direction; use letters and digits"
    case .payloadForm:
      "a value with the media's URL has another type than the vendor's helper reads, or --strict-dialects refuses it; "
        + "the log and attache inspect show the right form"
    case .payloadLazy: "the payload asks to load the media only when somebody looks at it; remove that request to have it attached"
    case .payloadSilent:
      "the push is silent: it wakes the app and shows nothing, so no service extension runs for it; give it an alert if it should show media"
    case .payloadNoAlert:
      "Apple's devices show no alert, so no service extension runs; give aps an alert with a text, name the place of the payload with --payload-path, or use --attach-as url for the pictures that a message of FCM has for Android and the web"
    case .payloadNotMutable:
      "the payload does not ask for a service extension; write \"mutable-content\": 1 into aps if it should show media"
    case .payloadNoMedia:
      "the payload names no media that attache knows; attache dialects lists the places where it looks, and --media-key adds one"
    case .payloadUnreadMedia:
      "the line has a URL that looks like media, at a place that nothing reads; attache inspect shows the place, and --media-key adds one of the payload"
    case .policyURL: "the text is not an absolute http(s) URL that every parser reads alike; write it as RFC 3986 says"
    case .policyScheme: "only https is fetched; use https, or --allow-http for plain http"
    case .policyUserinfo: "a URL with a user name or a password is refused; leave them out"
    case .policyHost: "the host is malformed, not a public name, or denied; see --allow-host and --deny-host"
    case .policyPort: "the port is not allowed; add it with --allow-port"
    case .policyAddress: "the address is not public; --allow-net CIDR allows one, except cloud metadata"
    case .policyRedirect: "a redirect leads from https to http, or to a target that the URL or address rules refuse; check the origin"
    case .policyAttachments: "the payload names more media than --max-attachments; raise it"
    case .policyBreaker:
      "the origin has answered nothing for at least ten seconds, so attache asks it only now and then; repair it, and attache resumes by itself"
    case .dnsNotFound: "the name does not exist or has no address; check the URL"
    case .dnsFailed: "the name servers gave no usable answer; check --dns-server or resolv.conf"
    case .dnsTimeout: "the name servers did not answer in time; check --dns-server or resolv.conf"
    case .connectRefused: "nothing listens at the origin's port; check the URL and the origin"
    case .connectFailed: "no connection to the origin could be made; check the network and the origin"
    case .connectReset: "the origin closed the connection before a response; check the origin"
    case .connectProxy: "the proxy cannot be reached or refuses; check --proxy"
    case .tlsCertificate:
      "the origin's certificate has expired, comes from an unknown authority, or comes without its intermediate certificate; renew it, name the authority's root with --cacert, or install the full chain at the origin"
    case .tlsHost: "the origin's certificate is for another name; check the URL, or give the origin a certificate for its name"
    case .tlsVersion: "the origin offers no safe TLS version (1.2 or later) or cipher; update its TLS"
    case .tlsHandshake: "the TLS handshake failed; check that the origin speaks TLS on this port and requires no client certificate"
    case .httpStatus:
      "the origin answered with a status other than 200, which the report has; --header-file can give a login (401, 403), --user-agent a contact (403)"
    case .httpProtocol: "what the origin sent is not HTTP; check the URL's port and scheme"
    case .httpHeaders: "the response has too many header fields, or they are too long; check the origin"
    case .httpFraming: "the response's length or header fields are ambiguous; check the origin and its proxies"
    case .httpEncoding:
      "the origin says that the body is compressed (Content-Encoding), which attache did not ask for; turn off compression for media, or remove a wrong label from the stored file"
    case .httpTruncated: "the body ended too early, or nothing shows where it ends; check the origin and its proxies"
    case .httpRedirect: "too many redirects (5 are followed), a loop, or a redirect without a usable Location; check the origin"
    case .sizeImage: "the image is larger than its limit (Apple accepts 10 MB); use --convert, or shrink it at the origin"
    case .sizeAudio: "the audio is larger than its limit (Apple accepts 5 MB); shrink it at the origin"
    case .sizeVideo: "the video is larger than its limit (Apple accepts 50 MB); shrink it at the origin"
    case .sizeLimit: "the file is larger than every limit (Apple accepts 50 MB); shrink it at the origin"
    case .sizeEmpty: "the file is empty; check the origin"
    case .sizePixels: "the picture has more pixels than --max-pixels; use --convert, shrink it at the origin, or raise --max-pixels"
    case .typeUnknown: "the type of the bytes is unknown; check what the URL serves"
    case .typeUnsupported:
      "Apple does not accept the type of the bytes; for WebP, HEIC, AVIF and TIFF use --convert, else serve a type that Apple lists"
    case .typeBroken: "the structure of the file shows that it is damaged or truncated; repair it at the origin"
    case .typeDetector: "the type detector crashes or takes too long on the bytes; check what the URL serves"
    case .convertFailed: "the picture could not be converted; check it at the origin, or convert it there"
    case .convertDeadline:
      "the picture was not converted in time; raise --deadline, or --fetchers if many pictures come at a time, or shrink the picture at the origin"
    case .uploadFailed: "the file could not be uploaded in time; check the bucket's server, or raise --deadline"
    case .uploadRefused: "the bucket refuses the file; see the log, and check --upload, --upload-region and the key's rights"
    case .uploadPrivate:
      "the origin marks the file as private, or its URL looks signed, so attache does not publish it; --upload-private publishes such files too"
    case .fetchCrashed: "the fetcher of the media crashed, and so did the next one; please report the URL with its content"
    case .extensionCrash: "the process of the service extension ended; its last words on standard error say why"
    case .extensionMemory:
      "the service extension used more memory than --extension-memory; download to a file instead of holding the body in memory"
    case .extensionFile: "the service extension attached a file that cannot be read, or that is outside its own folders; see the log"
    case .extensionContent:
      "the service extension's content cannot be written into the payload; most often the payload would exceed 4,096 bytes, or its envelope has no place for the change: answer with less, or send the payload without its envelope"
    case .storeFull: "the store's disk is full; free space, for example by `attache store prune`, or choose another --store"
    case .storeReadOnly: "the store is read-only; check its permissions and its file system"
    case .storeFailed: "the store gave an error; see the log"
    case .queueExpired:
      "the payload expired while it waited in the queue (apns-expiration); process the queue earlier, or with more workers"
    case .queuePoison:
      "the payload ended its worker repeatedly, at last while no other was in flight; please report it with its media, and retry it with a new version"
    case .queueCancelled:
      "somebody cancelled the payload in the queue (attache cancel), and nobody gets it; `attache retry --state cancelled` processes it again"
    case .internal: "attache or its service extension failed; please report it with the log"
    }
  }
}
