"""The stack without data: functions, queues, topics, API, workflows and alarms."""

from __future__ import annotations

from importlib.metadata import version

import aws_cdk as cdk
from constructs import Construct

from infra.alerts import Alerts
from infra.analysis import Analysis
from infra.api import Api
from infra.catalog import Catalog
from infra.data_stack import DataStack
from infra.deployment import Deployment
from infra.exports import Exports
from infra.functions import PythonFunction
from infra.ingestion import Ingestion
from infra.layers import Layers
from infra.monitoring import Monitoring
from infra.news import News
from infra.observations import Observations
from infra.page import Page
from infra.roles import put_policies_into_roles
from infra.search import Search
from infra.sentiment import Sentiment
from infra.workflows import DeclaredWorkflows, RunClosing, Workflow
from sourcebook.table.keys import ONE_SHARD, SHARDS_VARIABLE


class PipelineStack(cdk.Stack):
    """The pipeline, in the order of the data. Deleting it loses only messages in flight."""

    def __init__(
        self, scope: Construct, construct_id: str, *, deployment: Deployment, data: DataStack
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            description="Sourcebook: ingestion, analysis, read side, workflows, alarms.",
            # CloudFormation takes a megabyte; a third of the template was blanks.
            suppress_template_indentation=True,
        )
        layers = Layers(self, "Layers", deployment=deployment)
        self._ingestion = Ingestion(self, "Ingestion", deployment=deployment, data=data, layers=layers)
        self._analysis = Analysis(
            self, "Analysis", deployment=deployment, data=data, layers=layers, ingestion=self._ingestion
        )
        self._news = News(self, "News", data=data, layers=layers, lines=deployment.grouping_lines)
        self._sentiment = Sentiment(self, "Sentiment", deployment=deployment, data=data, layers=layers)
        self._observations = Observations(self, "Observations", data=data, layers=layers)
        self._catalog = Catalog(self, "Catalog", deployment=deployment, data=data, layers=layers)
        self._search = Search(self, "Search", deployment=deployment, data=data, layers=layers)
        self._alerts = Alerts(self, "Alerts")
        self._exports = Exports(self, "Exports", data=data, layers=layers)
        self._api = Api(self, "Api", deployment=deployment, data=data, layers=layers)
        Page(self, "Page", api=self._api, data=data, layers=layers)
        self._refresh = Workflow(
            self,
            "RefreshSources",
            name="refresh_sources",
            functions={"dispatch_sources": self._ingestion.dispatch},
            table=data.table,
        )
        # These look for what all others have defined.
        self._declared = DeclaredWorkflows(self, "Declared", data=data, layers=layers)
        self._closing = RunClosing(self, "RunClosing", data=data, layers=layers)
        self._connect(deployment, data)
        self._apply_to_all(deployment)
        self._monitoring = self._build_monitoring(deployment)
        for name, value in self._outputs(deployment, data).items():
            cdk.CfnOutput(self, name, value=value)
        put_policies_into_roles(self)

    def _connect(self, deployment: Deployment, data: DataStack) -> None:
        """Allow functions what they do with the resources of other constructs."""
        fetch = self._ingestion.fetch
        self._news.grant_put_events(fetch)
        self._observations.grant_fetch(fetch)
        # New articles have no status, which an earlier release takes for analyzed: an update gives new code
        # to those who read them before it gives it to the one who writes them.
        fetch.function.node.add_dependency(self._analysis.analyze.function, self._search.index.function)
        data.api_keys.grant_read(fetch, *data.api_keys.NEWS)
        self._alerts.grant_fire(self._search.index, deployment)
        self._news.grant_put_events(self._search.index)
        api = self._api.function
        # Of articles that people have joined or split.
        self._ingestion.grant_announce(api)
        self._search.grant_read(api)
        self._alerts.grant_manage(api)
        self._sentiment.grant_cache(api)
        self._catalog.grant_files(api)
        self._exports.grant_read(api)
        self._api.add_workflows(part for part in self.node.find_all() if isinstance(part, Workflow))
        works = {"fetch": self._ingestion.work, "analyze": self._analysis.work, **self._news.queues}
        self._api.add_dead_letters({name: work.dead_letters for name, work in works.items()})

    def _apply_to_all(self, deployment: Deployment) -> None:
        """Apply the choices that concern every function and workflow."""
        for part in self.node.find_all():
            if deployment.shards != ONE_SHARD and isinstance(part, PythonFunction):
                part.function.add_environment(SHARDS_VARIABLE, str(deployment.shards))
            if deployment.traces and isinstance(part, PythonFunction | Workflow):
                part.trace()

    def _build_monitoring(self, deployment: Deployment) -> Monitoring:
        ingestion, analysis = self._ingestion, self._analysis
        monitoring = Monitoring(
            self,
            "Monitoring",
            deployment=deployment,
            dispatch=ingestion.dispatch,
            api=self._api.api,
            shown=(
                ingestion.dispatch,
                ingestion.fetch,
                analysis.analyze,
                analysis.heal,
                self._api.function,
            ),
        )
        monitoring.alarm_on_any(
            "work-overdue",
            [analysis.waiting(), self._catalog.spectra.overdue()],
            periods=(2, 3),
            meaning="Articles wait for over an hour though they were announced again, or a spectrum has been "
            "due for over an hour.",
            action="See which of both, and whether what works it off runs, fails or is only outnumbered.",
        )
        ingestion.add_monitoring(monitoring)
        self._news.add_monitoring(monitoring, ingestion.fetch)
        self._catalog.spectra.add_monitoring(monitoring)
        self._observations.add_monitoring(monitoring, ingestion.fetch)
        analysis.add_monitoring(monitoring)
        return monitoring

    def _outputs(self, deployment: Deployment, data: DataStack) -> dict[str, str]:
        """Return all outputs: names that tests, the command line and operators read."""
        outputs = {
            "Version": version("sourcebook"),
            "TableName": data.table.table_name,
            "BucketName": data.bucket.bucket_name,
            "IndexShards": str(deployment.shards),
            "RefreshSourcesArn": self._refresh.machine.state_machine_arn,
            **data.api_keys.outputs(),
        }
        for part in (
            self._ingestion,
            self._analysis,
            self._news,
            self._sentiment,
            self._observations,
            self._catalog,
            self._search,
            self._alerts,
            self._exports,
            self._api,
            self._declared,
            self._closing,
            self._monitoring,
        ):
            outputs |= part.outputs()
        return outputs
