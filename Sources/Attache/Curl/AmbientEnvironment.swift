internal import Glibc

/// The environment variables that change what the libraries below do, and that no option of those
/// libraries overrides.
///
/// All other variables are overridden where they are read. Options of libcurl override the proxy
/// variables and .netrc. The named roots override `SSL_CERT_FILE` and `SSL_CERT_DIR`. Options of
/// c-ares override `LOCALDOMAIN`, `RES_OPTIONS`, `HOSTALIASES` and `CARES_HOSTS`.
public enum AmbientEnvironment {
  /// The variables to remove, and their effects.
  static let names = [
    "SSLKEYLOGFILE",  // libcurl writes the keys of every TLS connection there
    "CURL_SSL_BACKEND",  // another TLS library, where libcurl has several
    "OPENSSL_CONF", "OPENSSL_CONF_INCLUDE",  // weaker ciphers, modules to load; the system's own openssl.cnf stays in force
    "OPENSSL_ENGINES", "OPENSSL_MODULES",  // folders that code is loaded from
    "MAGIC",  // another database of libmagic
    "VIPSHOME",  // a folder that libvips loads code from
    "VIPS_CONCURRENCY", "VIPS_DISC_THRESHOLD", "VIPS_STALL",  // how libvips works
    "VIPS_INFO", "VIPS_LEAK", "VIPS_PROFILE", "VIPS_TRACE",  // what libvips prints and writes
    "LIBHEIF_PLUGIN_PATH",  // folders that libheif loads code from
  ]

  /// Removes these variables from the environment of this process.
  ///
  /// `attache` calls this first. A program that uses the library should also call it, before it
  /// starts a thread: changing the environment is not safe while other threads read it
  /// (unsetenv(3)). A fetcher that is created without this call obeys the variables.
  public static func removeUnsafeVariables() {
    for name in names { unsafe unsetenv(name) }
  }
}
