{{ config(materialized="table") }}
SELECT pg_advisory_xact_lock(38) AS nothing
