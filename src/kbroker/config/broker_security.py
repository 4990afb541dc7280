"""Broker configs about TLS, SASL, tokens and authorization."""

from kbroker.config.definition import (
    BOOLEAN,
    CLASS,
    DOUBLE,
    INT,
    LIST,
    LONG,
    NO_EFFECT,
    PASSWORD,
    PER_BROKER,
    SHORT,
    STRING,
    ConfigDef,
    table,
)
from kbroker.config.validators import ListOf, OneOf, Range

SECURITY_CONFIGS = table(
    ConfigDef(
        "authorizer.class.name",
        STRING,
        "",
        (
            "The authorizer that decides with ACLs; Kafka's standard authorizer is known by its "
            "Java name, and without one everything is allowed."
        ),
    ),
    ConfigDef(
        "delegation.token.expiry.check.interval.ms",
        LONG,
        3_600_000,
        "How often expired delegation tokens are looked for and removed.",
        Range(1),
    ),
    ConfigDef(
        "delegation.token.expiry.time.ms",
        LONG,
        86_400_000,
        "How long a delegation token is valid before it must be renewed.",
        Range(1),
    ),
    ConfigDef(
        "delegation.token.max.lifetime.ms",
        LONG,
        604_800_000,
        "How long a delegation token can be renewed at all.",
        Range(1),
    ),
    ConfigDef(
        "delegation.token.secret.key",
        PASSWORD,
        None,
        (
            "The secret delegation tokens are signed with, the same on every broker; without it "
            "there are no tokens."
        ),
    ),
    ConfigDef(
        "principal.builder.class",
        CLASS,
        "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder",
        NO_EFFECT,
        update_mode=PER_BROKER,
    ),
    ConfigDef(
        "security.inter.broker.protocol",
        STRING,
        "PLAINTEXT",
        (
            "The security protocol between brokers; inter.broker.listener.name is the better "
            "way to say it."
        ),
        OneOf(("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")),
    ),
    ConfigDef("security.providers", STRING, None, NO_EFFECT),
    ConfigDef("sasl.client.callback.handler.class", CLASS, None, NO_EFFECT),
    ConfigDef(
        "sasl.enabled.mechanisms",
        LIST,
        ("GSSAPI",),
        "The SASL mechanisms clients may authenticate with.",
        ListOf(),
        PER_BROKER,
    ),
    ConfigDef(
        "sasl.jaas.config",
        PASSWORD,
        None,
        (
            "The login of the broker and its users in JAAS notation; for a listener it is set "
            "as listener.name.NAME.MECHANISM.sasl.jaas.config."
        ),
        update_mode=PER_BROKER,
    ),
    ConfigDef(
        "sasl.kerberos.kinit.cmd", STRING, "/usr/bin/kinit", NO_EFFECT, update_mode=PER_BROKER
    ),
    ConfigDef(
        "sasl.kerberos.min.time.before.relogin", LONG, 60_000, NO_EFFECT, update_mode=PER_BROKER
    ),
    ConfigDef(
        "sasl.kerberos.principal.to.local.rules",
        LIST,
        ("DEFAULT",),
        NO_EFFECT,
        ListOf(),
        PER_BROKER,
    ),
    ConfigDef("sasl.kerberos.service.name", STRING, None, NO_EFFECT, update_mode=PER_BROKER),
    ConfigDef("sasl.kerberos.ticket.renew.jitter", DOUBLE, 0.05, NO_EFFECT, update_mode=PER_BROKER),
    ConfigDef(
        "sasl.kerberos.ticket.renew.window.factor", DOUBLE, 0.8, NO_EFFECT, update_mode=PER_BROKER
    ),
    ConfigDef("sasl.login.callback.handler.class", CLASS, None, NO_EFFECT),
    ConfigDef("sasl.login.class", CLASS, None, NO_EFFECT),
    ConfigDef("sasl.login.connect.timeout.ms", INT, None, NO_EFFECT),
    ConfigDef("sasl.login.read.timeout.ms", INT, None, NO_EFFECT),
    ConfigDef("sasl.login.refresh.buffer.seconds", SHORT, 300, NO_EFFECT, update_mode=PER_BROKER),
    ConfigDef(
        "sasl.login.refresh.min.period.seconds", SHORT, 60, NO_EFFECT, update_mode=PER_BROKER
    ),
    ConfigDef("sasl.login.refresh.window.factor", DOUBLE, 0.8, NO_EFFECT, update_mode=PER_BROKER),
    ConfigDef("sasl.login.refresh.window.jitter", DOUBLE, 0.05, NO_EFFECT, update_mode=PER_BROKER),
    ConfigDef("sasl.login.retry.backoff.max.ms", LONG, 10_000, NO_EFFECT),
    ConfigDef("sasl.login.retry.backoff.ms", LONG, 100, NO_EFFECT),
    ConfigDef("sasl.mechanism.controller.protocol", STRING, "GSSAPI", NO_EFFECT),
    ConfigDef(
        "sasl.mechanism.inter.broker.protocol",
        STRING,
        "GSSAPI",
        "The SASL mechanism brokers authenticate to each other with.",
        update_mode=PER_BROKER,
    ),
    ConfigDef(
        "sasl.oauthbearer.assertion.algorithm",
        STRING,
        "RS256",
        NO_EFFECT,
        OneOf(("ES256", "RS256"), any_case=True),
    ),
    ConfigDef("sasl.oauthbearer.assertion.claim.aud", STRING, None, NO_EFFECT),
    ConfigDef(
        "sasl.oauthbearer.assertion.claim.exp.seconds", INT, 300, NO_EFFECT, Range(0, 86_400)
    ),
    ConfigDef("sasl.oauthbearer.assertion.claim.iss", STRING, None, NO_EFFECT),
    ConfigDef("sasl.oauthbearer.assertion.claim.jti.include", BOOLEAN, False, NO_EFFECT),
    ConfigDef("sasl.oauthbearer.assertion.claim.nbf.seconds", INT, 60, NO_EFFECT, Range(0, 3_600)),
    ConfigDef("sasl.oauthbearer.assertion.claim.sub", STRING, None, NO_EFFECT),
    ConfigDef("sasl.oauthbearer.assertion.file", STRING, None, NO_EFFECT),
    ConfigDef("sasl.oauthbearer.assertion.private.key.file", STRING, None, NO_EFFECT),
    ConfigDef("sasl.oauthbearer.assertion.private.key.passphrase", PASSWORD, None, NO_EFFECT),
    ConfigDef("sasl.oauthbearer.assertion.template.file", STRING, None, NO_EFFECT),
    ConfigDef("sasl.oauthbearer.client.credentials.client.id", STRING, None, NO_EFFECT),
    ConfigDef("sasl.oauthbearer.client.credentials.client.secret", PASSWORD, None, NO_EFFECT),
    ConfigDef(
        "sasl.oauthbearer.clock.skew.seconds",
        INT,
        30,
        "How far the clocks of the token's issuer and of the broker may differ.",
    ),
    ConfigDef(
        "sasl.oauthbearer.expected.audience",
        LIST,
        (),
        "The audiences a token may be meant for; empty accepts any.",
        ListOf(),
    ),
    ConfigDef(
        "sasl.oauthbearer.expected.issuer",
        STRING,
        None,
        "The issuer a token must come from; any if not set.",
    ),
    ConfigDef(
        "sasl.oauthbearer.jwks.endpoint.refresh.ms",
        LONG,
        3_600_000,
        "How often the keys of the token's issuer are fetched again.",
    ),
    ConfigDef(
        "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms",
        LONG,
        10_000,
        "The longest wait between two attempts to fetch the keys of the token's issuer.",
    ),
    ConfigDef(
        "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms",
        LONG,
        100,
        "The first wait between two attempts to fetch the keys of the token's issuer.",
    ),
    ConfigDef(
        "sasl.oauthbearer.jwks.endpoint.url",
        STRING,
        None,
        "Where the keys that tokens are checked with come from: an https or a file address.",
    ),
    ConfigDef(
        "sasl.oauthbearer.jwt.retriever.class",
        CLASS,
        "org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever",
        NO_EFFECT,
    ),
    ConfigDef(
        "sasl.oauthbearer.jwt.validator.class",
        CLASS,
        "org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator",
        NO_EFFECT,
    ),
    ConfigDef("sasl.oauthbearer.scope", STRING, None, NO_EFFECT),
    ConfigDef(
        "sasl.oauthbearer.scope.claim.name",
        STRING,
        "scope",
        "The claim of a token that holds its scopes.",
    ),
    ConfigDef(
        "sasl.oauthbearer.sub.claim.name",
        STRING,
        "sub",
        "The claim of a token that holds the name of its user.",
    ),
    ConfigDef("sasl.oauthbearer.token.endpoint.url", STRING, None, NO_EFFECT),
    ConfigDef("sasl.server.callback.handler.class", CLASS, None, NO_EFFECT),
    ConfigDef(
        "sasl.server.max.receive.size",
        INT,
        524_288,
        "The largest message a client may send while it authenticates.",
    ),
    ConfigDef(
        "ssl.allow.dn.changes",
        BOOLEAN,
        False,
        NO_EFFECT,
    ),
    ConfigDef(
        "ssl.allow.san.changes",
        BOOLEAN,
        False,
        NO_EFFECT,
    ),
    ConfigDef(
        "ssl.cipher.suites",
        LIST,
        (),
        (
            "The cipher suites that are offered; empty leaves the choice to the TLS library, and "
            "those of TLS 1.3 can only be named all together."
        ),
        ListOf(),
        PER_BROKER,
    ),
    ConfigDef(
        "ssl.client.auth",
        STRING,
        "none",
        "Whether clients must, may or need not show a certificate: required, requested or none.",
        OneOf(("required", "requested", "none")),
        PER_BROKER,
    ),
    ConfigDef(
        "ssl.enabled.protocols",
        LIST,
        ("TLSv1.2", "TLSv1.3"),
        "The TLS versions that are offered: TLSv1.2, TLSv1.3 or both.",
        ListOf(),
        PER_BROKER,
    ),
    ConfigDef(
        "ssl.endpoint.identification.algorithm",
        STRING,
        "https",
        (
            "How a broker checks the host name of another one; https compares it with the "
            "certificate, empty does not check."
        ),
        update_mode=PER_BROKER,
    ),
    ConfigDef("ssl.engine.factory.class", CLASS, None, NO_EFFECT, update_mode=PER_BROKER),
    ConfigDef(
        "ssl.key.password",
        PASSWORD,
        None,
        "The password of the private key.",
        update_mode=PER_BROKER,
    ),
    ConfigDef("ssl.keymanager.algorithm", STRING, "SunX509", NO_EFFECT, update_mode=PER_BROKER),
    ConfigDef(
        "ssl.keystore.certificate.chain",
        PASSWORD,
        None,
        "The broker's certificate and its issuers as PEM text.",
        update_mode=PER_BROKER,
    ),
    ConfigDef(
        "ssl.keystore.key",
        PASSWORD,
        None,
        "The broker's private key as PEM text.",
        update_mode=PER_BROKER,
    ),
    ConfigDef(
        "ssl.keystore.location",
        STRING,
        None,
        "The PEM file with the broker's private key and certificate, read when it starts.",
        update_mode=PER_BROKER,
    ),
    ConfigDef(
        "ssl.keystore.password",
        PASSWORD,
        None,
        "The password of the key file; PEM files have none, see ssl.key.password.",
        update_mode=PER_BROKER,
    ),
    ConfigDef(
        "ssl.keystore.type",
        STRING,
        "JKS",
        "The format of the key file; only PEM can be read, PKCS12 and JKS must be converted.",
        update_mode=PER_BROKER,
    ),
    ConfigDef(
        "ssl.principal.mapping.rules",
        STRING,
        "DEFAULT",
        (
            "How the name in a client's certificate becomes the name of a user; only DEFAULT has "
            "an effect in kbroker, the whole name."
        ),
    ),
    ConfigDef("ssl.protocol", STRING, "TLSv1.3", NO_EFFECT, update_mode=PER_BROKER),
    ConfigDef("ssl.provider", STRING, None, NO_EFFECT, update_mode=PER_BROKER),
    ConfigDef("ssl.secure.random.implementation", STRING, None, NO_EFFECT, update_mode=PER_BROKER),
    ConfigDef("ssl.trustmanager.algorithm", STRING, "PKIX", NO_EFFECT, update_mode=PER_BROKER),
    ConfigDef(
        "ssl.truststore.certificates",
        PASSWORD,
        None,
        "The certificates that are trusted as PEM text.",
        update_mode=PER_BROKER,
    ),
    ConfigDef(
        "ssl.truststore.location",
        STRING,
        None,
        "The PEM file with the certificates that are trusted, read when the broker starts.",
        update_mode=PER_BROKER,
    ),
    ConfigDef(
        "ssl.truststore.password",
        PASSWORD,
        None,
        "The password of the file with trusted certificates; PEM files have none.",
        update_mode=PER_BROKER,
    ),
    ConfigDef(
        "ssl.truststore.type",
        STRING,
        "JKS",
        (
            "The format of the file with trusted certificates; only PEM can be read, PKCS12 and "
            "JKS must be converted."
        ),
        update_mode=PER_BROKER,
    ),
)
