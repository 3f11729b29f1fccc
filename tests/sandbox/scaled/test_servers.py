"""The servers that tests of several web processes use."""

from __future__ import annotations

from collections import Counter

import psycopg
from redis import Redis

from tests.servers import Postgres, RedisServer


def test_a_database_of_postgres_outlives_a_restart_and_a_kill(own_postgres: Postgres) -> None:
    url = own_postgres.new_database()
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE kept (n int)")
    for end in (own_postgres.stop, own_postgres.kill):
        end()
        own_postgres.start()
        with psycopg.connect(url) as connection:
            connection.execute("INSERT INTO kept VALUES (1)")
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM kept").fetchone() == (2,)
    assert own_postgres.statements().count("INSERT INTO kept VALUES (1)") == 2


def test_each_test_has_an_empty_database(postgres_server: Postgres) -> None:
    tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
    with psycopg.connect(postgres_server.new_database()) as connection:
        connection.execute("CREATE TABLE one (n int)")
        assert connection.execute(tables).fetchone() == (1,)
    with psycopg.connect(postgres_server.new_database()) as connection:
        assert connection.execute(tables).fetchone() == (0,)


def test_redis_counts_its_commands(redis_server: RedisServer) -> None:
    before = redis_server.calls()
    with Redis.from_url(redis_server.url) as client:
        client.set("name", "value")
        client.get("name")
    assert redis_server.calls() - before == Counter({"set": 1, "get": 1})


def test_redis_answers_again_after_a_kill(own_redis: RedisServer) -> None:
    own_redis.kill()
    own_redis.start()
    with Redis.from_url(own_redis.url) as client:
        assert client.ping()
